//! CKPT009: leaving a region other than by its end. Its body is a function of its own, which runs
//! again in the backward pass: there is no loop around it to break, and no caller to return to.

use proc_macro2::Ident;
use syn::{Attribute, Block, ExprBlock, visit::Visit};

use crate::{
    diagnostic::{Findings, codes},
    flow::regions::{Region, region_of},
};

/// A way to leave.
struct Exit {
    /// The word.
    word: &'static str,
    /// What to write instead.
    help: &'static str,
}

const RETURN: Exit = Exit { word: "return", help: "let the region's value decide, and return behind the region" };
const BREAK: Exit =
    Exit { word: "break", help: "carry the decision out as a value: `if stop { break; }` behind the region" };
const CONTINUE: Exit =
    Exit { word: "continue", help: "decide before the region, or write `if .. { .. }` around what is left" };
const AWAIT: Exit = Exit { word: ".await", help: "await the value before the region" };
const YIELD: Exit = Exit { word: "yield", help: "yield behind the region" };

/// The rows of this family.
#[cfg(test)]
pub fn rows() -> Vec<super::tables::Row> {
    [RETURN, BREAK, CONTINUE, AWAIT, YIELD].map(|e| super::tables::Row { form: e.word, help: e.help }).into()
}

/// Reports every jump out of a region of `block`.
pub fn check(block: &Block, regions: &[Region], findings: &mut Findings) {
    Leaves { regions, findings, frames: Vec::new() }.visit_block(block);
}

struct Leaves<'a> {
    regions: &'a [Region],
    findings: &'a mut Findings,
    frames: Vec<Frame>,
}

enum Frame {
    Region,
    /// A loop cut into segments: `continue` stays inside, `break` cannot.
    Segments(Option<Ident>),
    Loop(Option<Ident>),
    Block(Ident),
    Closure,
}

impl Leaves<'_> {
    fn within(&mut self, frames: Vec<Frame>, inside: impl FnOnce(&mut Self)) {
        let depth = self.frames.len();
        self.frames.extend(frames);
        inside(self);
        self.frames.truncate(depth);
    }

    fn report(&mut self, at: impl quote::ToTokens, exit: &Exit) {
        let message = format!("`{}` leaves the region, whose body runs again on its own", exit.word);
        self.findings.push(codes::LEAVES_REGION, at, message, exit.help);
    }

    fn jump(&mut self, at: &dyn quote::ToTokens, label: Option<&syn::Lifetime>, is_break: bool) {
        for frame in self.frames.iter().rev() {
            let hit = |l: &Option<Ident>| label.is_none_or(|wanted| l.as_ref() == Some(&wanted.ident));
            match frame {
                Frame::Loop(l) if hit(l) => return,
                Frame::Segments(l) if hit(l) && !is_break => return,
                Frame::Block(l) if label.is_some_and(|wanted| wanted.ident == *l) => return,
                Frame::Closure => return,
                Frame::Region | Frame::Segments(_) => {
                    self.report(at.to_token_stream(), if is_break { &BREAK } else { &CONTINUE });
                    return;
                }
                _ => {}
            }
        }
    }

    fn region_frames(&self, attrs: &[Attribute]) -> Vec<Frame> {
        region_of(attrs).map(|_| Frame::Region).into_iter().collect()
    }
}

impl<'ast> Visit<'ast> for Leaves<'_> {
    fn visit_local(&mut self, l: &'ast syn::Local) {
        let frames = self.region_frames(&l.attrs);
        self.within(frames, |s| syn::visit::visit_local(s, l));
    }

    fn visit_expr_block(&mut self, b: &'ast ExprBlock) {
        let mut frames = self.region_frames(&b.attrs);
        frames.extend(b.label.as_ref().map(|l| Frame::Block(l.name.ident.clone())));
        self.within(frames, |s| syn::visit::visit_expr_block(s, b));
    }

    fn visit_expr_for_loop(&mut self, f: &'ast syn::ExprForLoop) {
        let label = f.label.as_ref().map(|l| l.name.ident.clone());
        let frames = match region_of(&f.attrs) {
            Some(id) if self.regions[id].segments().is_some() => vec![Frame::Segments(label)],
            Some(_) => vec![Frame::Region, Frame::Loop(label)],
            None => vec![Frame::Loop(label)],
        };
        self.within(frames, |s| syn::visit::visit_expr_for_loop(s, f));
    }

    fn visit_expr_while(&mut self, w: &'ast syn::ExprWhile) {
        let label = w.label.as_ref().map(|l| l.name.ident.clone());
        self.within(vec![Frame::Loop(label)], |s| syn::visit::visit_expr_while(s, w));
    }

    fn visit_expr_loop(&mut self, l: &'ast syn::ExprLoop) {
        let label = l.label.as_ref().map(|l| l.name.ident.clone());
        self.within(vec![Frame::Loop(label)], |s| syn::visit::visit_expr_loop(s, l));
    }

    fn visit_expr_closure(&mut self, c: &'ast syn::ExprClosure) {
        self.within(vec![Frame::Closure], |s| syn::visit::visit_expr_closure(s, c));
    }

    fn visit_expr_async(&mut self, a: &'ast syn::ExprAsync) {
        self.within(vec![Frame::Closure], |s| syn::visit::visit_expr_async(s, a));
    }

    fn visit_expr_return(&mut self, r: &'ast syn::ExprReturn) {
        let outward = self.frames.iter().rev();
        let mut outward = outward.take_while(|f| !matches!(f, Frame::Closure));
        if outward.any(|f| matches!(f, Frame::Region | Frame::Segments(_))) {
            self.report(r.return_token, &RETURN);
        }
        syn::visit::visit_expr_return(self, r);
    }

    fn visit_expr_break(&mut self, b: &'ast syn::ExprBreak) {
        self.jump(&b.break_token, b.label.as_ref(), true);
        syn::visit::visit_expr_break(self, b);
    }

    fn visit_expr_continue(&mut self, c: &'ast syn::ExprContinue) {
        self.jump(&c.continue_token, c.label.as_ref(), false);
    }

    fn visit_expr_await(&mut self, a: &'ast syn::ExprAwait) {
        if self.frames.iter().any(|f| matches!(f, Frame::Region | Frame::Segments(_))) {
            self.report(a.await_token, &AWAIT);
        }
        syn::visit::visit_expr_await(self, a);
    }

    fn visit_expr_yield(&mut self, y: &'ast syn::ExprYield) {
        if self.frames.iter().any(|f| matches!(f, Frame::Region | Frame::Segments(_))) {
            self.report(y.yield_token, &YIELD);
        }
        syn::visit::visit_expr_yield(self, y);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check::tests::context,
        diagnostic::Code,
        flow::{Returns, regions},
    };
    use syn::parse_quote;

    fn left(mut block: Block) -> Vec<Code> {
        let mut f = Findings::new();
        let regions = regions::read(&mut block, None, Returns::Value, &context(), &mut f);
        check(&block, &regions, &mut f);
        f.codes()
    }

    #[test]
    fn leaving_a_region_is_reported() {
        let leaves: &[Block] = &[
            parse_quote!({
                #[checkpoint]
                {
                    if c {
                        return x;
                    }
                }
            }),
            parse_quote!({
                loop {
                    #[checkpoint]
                    {
                        break;
                    }
                }
            }),
            parse_quote!({
                'a: loop {
                    #[checkpoint]
                    {
                        loop {
                            continue 'a;
                        }
                    }
                }
            }),
            parse_quote!({
                #[checkpoint]
                let h = f().await;
            }),
            parse_quote!({
                #[checkpoint]
                {
                    yield 1;
                }
            }),
            parse_quote!({
                #[checkpoint(each)]
                for b in &self.blocks {
                    break;
                }
            }),
        ];
        for block in leaves {
            assert_eq!(left(block.clone()), [codes::LEAVES_REGION]);
        }
        let stays: &[Block] = &[
            parse_quote!({
                #[checkpoint]
                {
                    let f = || return 1;
                    loop {
                        break;
                    }
                }
            }),
            parse_quote!({
                #[checkpoint]
                for b in &self.blocks {
                    break;
                }
            }),
            parse_quote!({
                #[checkpoint(each)]
                for b in &self.blocks {
                    continue;
                }
            }),
            parse_quote!({
                #[checkpoint]
                {
                    'a: {
                        break 'a;
                    }
                }
                return x;
            }),
        ];
        for block in stays {
            assert_eq!(left(block.clone()), []);
        }
    }
}
