use super::*;
use crate::{diagnostic::Code, flow::tests::context};

fn read_marks(mut block: Block) -> (Vec<String>, Vec<Code>) {
    let mut f = Findings::new();
    let regions = read(&mut block, None, Returns::Value, &context(), &mut f);
    (regions.into_iter().map(|r| r.name).collect(), f.codes())
}

fn found(block: Block) -> Vec<Code> {
    read_marks(block).1
}

#[test]
fn regions_are_named_after_what_they_make() {
    let (names, codes) = read_marks(parse_quote!({
        #[checkpoint]
        let h = f();
        #[checkpoint(keep)]
        let (a, b) = g();
        #[checkpoint]
        let h = k();
        #[checkpoint]
        {
            h;
        }
        #[checkpoint(segments = 2)]
        for b in &self.blocks {}
        checkpoint!(self.attn, x)?;
        checkpoint_sequential!(segments = 2, x, self.a, self.b, self.c)?
    }));
    assert_eq!(codes, []);
    let expected = ["h", "a_b", "h#2", "block", "blocks", "attn", "a..b", "c"];
    assert_eq!(names, expected.map(|n| format!("Net.{n}")));
}

#[test]
fn a_mark_stands_only_where_a_region_can_be_made() {
    let table: &[(Block, Code)] = &[
        (
            parse_quote!({
                #[checkpoint]
                let h;
            }),
            codes::MISPLACED_MARK,
        ),
        (
            parse_quote!({
                #[checkpoint]
                if c {
                    f()
                }
            }),
            codes::MISPLACED_MARK,
        ),
        (
            parse_quote!({
                #[checkpoint]
                f(x);
            }),
            codes::MISPLACED_MARK,
        ),
        (
            parse_quote!({
                #[checkpoint(each)]
                for (i, b) in self.blocks.iter().enumerate() {}
            }),
            codes::MISPLACED_MARK,
        ),
        (
            parse_quote!({
                #[checkpoint(each)]
                let h = f();
            }),
            codes::UNKNOWN_OPTION,
        ),
        (
            parse_quote!({
                checkpoint!(self.attn);
            }),
            codes::SYNTAX,
        ),
        (
            parse_quote!({
                checkpoint!(f(x), x);
            }),
            codes::SYNTAX,
        ),
        (
            parse_quote!({
                checkpoint_sequential!(segments = 3, x, self.a, self.b);
            }),
            codes::SEGMENTS,
        ),
    ];
    for (block, code) in table {
        assert_eq!(found(block.clone()), [*code], "{}", quote!(#block));
    }
}
