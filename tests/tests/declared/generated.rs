//! Written by `cargo run -p tests --bin generate`: change that, not this.

use dfdx::nn::modules::{BatchNorm1D, LayerNorm1D, Linear};

use super::prelude::*;

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case0<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    #[checkpoint(keep)]
    f1: Tanh,
}

fn plain_0(m: &mut Case0<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case1<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: Case0<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case1<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 - self.f0.forward(v0.tanh());
        #[checkpoint(keep)]
        let v3 = {
            let v2 = v1.square();
            let v3 = v1 * self.p.clone().relu().broadcast_like(v1.shape());
            v3
        };
        let v4 = self.helper(v3);
        let v5 = v0 - self.f0.forward(v1.tanh());
        #[checkpoint(verify)]
        let v8 = {
            #[checkpoint]
            let v8 = {
                let v6 = v5.square();
                let v7 = self.f0.forward(v6);
                let v8 = self.f0.forward(v7);
                v8
            };
            v8
        };
        v8
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_1(m: &mut Case1<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_tanh()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sub(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_square()?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v3, t) = v1.clone().put_tape(t).try_mul(p.broadcast_like(v1.shape()))?.split_tape();
    let s = v3.clone().put_tape(t).try_sin()?;
    let (s, t) = plain_0(&mut m.f1, s)?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_add(s)?.split_tape();
    let n = v1.clone().put_tape(t).try_tanh()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v5, t) = v0.clone().put_tape(t).try_sub(n)?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_square()?.split_tape();
    let (v7, t) = m.f0.try_forward_mut(v6.clone().put_tape(t))?.split_tape();
    let (v8, t) = m.f0.try_forward_mut(v7.clone().put_tape(t))?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case2<E: Dtype, D: Device<E>> {
    #[checkpoint(each)]
    f0: Repeated<Case0<E, D>, 3>,
    #[checkpoint]
    f1: Linear<4, 4, E, D>,
}

fn plain_2(m: &mut Case2<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.f0, x, plain_0)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case3<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: Linear<4, 4, E, D>,
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case3<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v1 = v0 * self.f2.forward(v0.sin());
        let v2 = v1.square();
        let v3 = self.helper(v2);
        let v4 = v3 * self.p.clone().sin().broadcast_like(v3.shape());
        let v5 = v0.tanh();
        let v6 = self.f0.forward(v5);
        let v7 = v1 * self.p.clone().cos().broadcast_like(v1.shape());
        let v8 = if self.gate > 0.5 { self.f2.forward(v7) } else { v7.cos() };
        v8
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f0.forward(x.sin());
        x + y
    }
}

fn plain_3(m: &mut Case3<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sin()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_square()?.split_tape();
    let s = v2.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f0.try_forward_mut(s)?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(s)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sin()?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(p.broadcast_like(v3.shape()))?.split_tape();
    let (v5, t) = v0.clone().put_tape(t).try_tanh()?.split_tape();
    let (v6, t) = m.f0.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_cos()?.split_tape();
    let (v7, t) = v1.clone().put_tape(t).try_mul(p.broadcast_like(v1.shape()))?.split_tape();
    let y = if m.gate > 0.5 { m.f2.try_forward_mut(v7.clone().put_tape(t))? } else { v7.clone().put_tape(t).try_cos()? };
    let (v8, t) = y.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case4<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: Linear<4, 4, E, D>,
    f2: Linear<4, 4, E, D>,
    f3: Repeated<Case0<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case4<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(plain)]
        let (v1, v2) = {
            let v1 = self.f1.forward(v0);
            #[checkpoint(verify)]
            let v2 = if self.gate > 0.5 { self.f2.forward(v1) } else { v1.sin() };
            (v1, v2)
        };
        #[checkpoint]
        let v3 = self.f1.forward(v2.sigmoid()) * v0;
        let v4 = v3.square();
        let v5 = self.f1.forward(v4);
        #[checkpoint]
        let v7 = {
            let v6 = self.f2.forward(v5);
            let v7 = v1 + v6;
            v7
        };
        #[checkpoint(plain)]
        let v8 = v7 * self.p.clone().broadcast_like(v7.shape());
        v8
    }
}

fn plain_4(m: &mut Case4<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let y = if m.gate > 0.5 { m.f2.try_forward_mut(v1.clone().put_tape(t))? } else { v1.clone().put_tape(t).try_sin()? };
    let (v2, t) = y.split_tape();
    let n = v2.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v3, t) = n.put_tape(t).try_mul(v0.clone())?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_square()?.split_tape();
    let (v5, t) = m.f1.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    let (v6, t) = m.f2.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    let (v7, t) = v1.clone().put_tape(t).try_add(v6.clone())?.split_tape();
    let p = m.p.clone();
    let (v8, t) = v7.clone().put_tape(t).try_mul(p.broadcast_like(v7.shape()))?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case5<E: Dtype, D: Device<E>> {
    #[checkpoint(keep)]
    f0: BatchNorm1D<4, E, D>,
    #[checkpoint(segments = 1)]
    f1: (Linear<4, 4, E, D>, nn::Dropout),
}

fn plain_5(m: &mut Case5<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

pub type Case6 = checkpoint_sequential!(
    segments = 3,
    nn::Dropout,
    builders::BatchNorm1D<4>,
    nn::Dropout,
    builders::BatchNorm1D<4>,
    Sigmoid,
    builders::BatchNorm1D<4>,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
    (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
);

fn plain_6(m: &mut Built<Case6>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    let x = m.0.7.try_forward_mut(x)?;
    let x = m.0.8.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case7<E: Dtype, D: Device<E>>(
    (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    LayerNorm1D<4, E, D>,
    #[checkpoint]
    LayerNorm1D<4, E, D>,
    #[checkpoint(plain)]
    Linear<4, 4, E, D>,
    #[checkpoint(each)]
    Repeated<Case5<E, D>, 3>,
);

fn plain_7(m: &mut Case7<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = m.3.try_forward_mut(x)?;
    let x = many(&mut m.4, x, plain_5)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case8<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f2: LayerNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case8<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let (v1, v2) = {
            #[checkpoint]
            let (v1, v2) = {
                let v1 = self.f0.forward(v0);
                let v2 = v1.tanh();
                (v1, v2)
            };
            (v1, v2)
        };
        #[checkpoint(plain)]
        let v4 = {
            #[checkpoint(plain)]
            let v4 = {
                let v3 = v2 * E::from_f64(0.75).unwrap();
                let v4 = self.f0.forward(v3);
                v4
            };
            v4
        };
        let v5 = v4 * v0;
        let v6 = v1.square();
        v6
    }
}

fn plain_8(m: &mut Case8<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_tanh()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v4, t) = m.f0.try_forward_mut(v3.clone().put_tape(t))?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(v0.clone())?.split_tape();
    let (v6, t) = v1.clone().put_tape(t).try_square()?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case9<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Linear<4, 4, E, D>,
    #[checkpoint]
    f1: Case5<E, D>,
    #[policy]
    policy: Policy,
}

fn plain_9(m: &mut Case9<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_5(&mut m.f1, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case10<E: Dtype, D: Device<E>> {
    f0: LayerNorm1D<4, E, D>,
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    f2: (Linear<4, 4, E, D>, ReLU),
    f3: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case10<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(name = "part")]
        let v1 = v0.sigmoid();
        let v2 = v0 - self.f2.forward(v1.sigmoid());
        #[checkpoint]
        let v4 = {
            let v3 = self.f0.forward(v2);
            let v4 = v3 + self.p.clone().broadcast_like(v3.shape());
            v4
        };
        v4
    }
}

fn plain_10(m: &mut Case10<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sigmoid()?.split_tape();
    let n = v1.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v2, t) = v0.clone().put_tape(t).try_sub(n)?.split_tape();
    let (v3, t) = m.f0.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let p = m.p.clone();
    let (v4, t) = v3.clone().put_tape(t).try_add(p.broadcast_like(v3.shape()))?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case11<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Linear<4, 4, E, D>,
    f2: Repeated<Case0<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case11<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let v2 = {
            let v1 = v0.try_relu()?;
            let v2 = v0.try_sin()?;
            v2
        };
        #[checkpoint]
        let (v3, v4) = {
            #[checkpoint]
            let (v3, v4) = {
                let v3 = v2 + self.f2.try_forward(v0.try_square()?)?;
                let v4 = if self.gate > 0.5 { self.f0.forward(v0) } else { v0.sigmoid() };
                (v3, v4)
            };
            let v5 = v4 + self.p.clone().relu().broadcast_like(v4.shape());
            (v3, v4)
        };
        let v6 = v3 + v4;
        #[checkpoint(verify)]
        let v8 = {
            #[checkpoint(keep)]
            let v7 = v0.try_sigmoid()?;
            let v8 = v7.try_sin()?;
            v8
        };
        Ok(v8)
    }
}

fn plain_11(m: &mut Case11<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_relu()?.split_tape();
    let (v2, t) = v0.clone().put_tape(t).try_sin()?.split_tape();
    let n = v0.clone().put_tape(t).try_square()?;
    let (n, t) = many(&mut m.f2, n, plain_0)?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(n)?.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_sigmoid()? };
    let (v4, t) = y.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(p.broadcast_like(v4.shape()))?.split_tape();
    let (v6, t) = v3.clone().put_tape(t).try_add(v4.clone())?.split_tape();
    let (v7, t) = v0.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v8, t) = v7.clone().put_tape(t).try_sin()?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case12<E: Dtype, D: Device<E>>(
    #[checkpoint(segments = 2)]
    Repeated<Case0<E, D>, 3>,
    Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(segments = 1, verify)]
    (Linear<4, 4, E, D>, ReLU),
);

fn plain_12(m: &mut Case12<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.0, x, plain_0)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 9;
    pub struct Case13 {
        l0: builders::Linear<4, 4>,
        l1: builders::Linear<4, 4>,
        l2: builders::Linear<4, 4>,
        l3: builders::Linear<4, 4>,
        l4: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l5: builders::Linear<4, 4>,
        l6: nn::Dropout,
        l7: nn::Dropout,
        l8: Sigmoid,
    }
}

fn plain_13(m: &mut Built<Case13>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    let x = m.l6.try_forward_mut(x)?;
    let x = m.l7.try_forward_mut(x)?;
    let x = m.l8.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case14<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(segments = 1, name = "named")]
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[checkpoint(keep)]
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(each, name = "named")]
    f3: (Linear<4, 4, E, D>, nn::Dropout),
    f4: (Linear<4, 4, E, D>, ReLU),
}

fn plain_14(m: &mut Case14<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case15<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: BatchNorm1D<4, E, D>,
    f2: Case5<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case15<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0.sigmoid();
        #[checkpoint(name = "part")]
        let v2 = self.f1.forward(v1.cos()) * v1;
        let v3 = self.f0.forward(v2);
        v3
    }
}

fn plain_15(m: &mut Case15<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sigmoid()?.split_tape();
    let n = v1.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v2, t) = n.put_tape(t).try_mul(v1.clone())?.split_tape();
    let (v3, t) = m.f0.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case16<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(segments = 2)]
    f1: Repeated<Case0<E, D>, 2>,
    #[checkpoint(each)]
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    f3: Repeated<Case5<E, D>, 2>,
}

fn plain_16(m: &mut Case16<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = many(&mut m.f1, x, plain_0)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = many(&mut m.f3, x, plain_5)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case17<E: Dtype, D: Device<E>> {
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case17<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = v0.try_square()?;
        let v2 = self.f2.try_forward(v1)?;
        #[checkpoint]
        let v3 = {
            #[checkpoint]
            let v3 = {
                let mut v3 = v0;
                #[checkpoint(each)]
                for block in &self.f0 {
                    v3 = block.forward(v3);
                }
                v3
            };
            v3
        };
        Ok(v3)
    }
}

fn plain_17(m: &mut Case17<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_square()?.split_tape();
    let (v2, t) = m.f2.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f0.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v3, t) = y.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case18<E: Dtype, D: Device<E>> {
    f0: Case0<E, D>,
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f2: Repeated<Case5<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case18<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(name = "part")]
        let v1 = self.f0.try_forward(v0)?;
        let v2 = self.helper(v1);
        let v3 = if self.gate > 0.5 { self.f1.forward(v2) } else { v2.relu() };
        let v4 = v1.try_relu()?;
        #[checkpoint]
        let v6 = {
            let v5 = v4 * E::from_f64(0.75).unwrap();
            #[checkpoint(keep)]
            let v6 = v1.try_square()?;
            v6
        };
        Ok(v6)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f0.forward(x.sin());
        x + y
    }
}

fn plain_18(m: &mut Case18<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = plain_0(&mut m.f0, v0.clone().put_tape(t))?.split_tape();
    let s = v1.clone().put_tape(t).try_sin()?;
    let (s, t) = plain_0(&mut m.f0, s)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(s)?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_relu()? };
    let (v3, t) = y.split_tape();
    let (v4, t) = v1.clone().put_tape(t).try_relu()?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v6, t) = v1.clone().put_tape(t).try_square()?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case19<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    #[checkpoint(verify)]
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
}

fn plain_19(m: &mut Case19<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

pub type Case20 = checkpoint_sequential!(
    segments = 2,
    Sigmoid,
    Sigmoid,
    builders::BatchNorm1D<4>,
    builders::BatchNorm1D<4>,
    Tanh,
    builders::BatchNorm1D<4>,
    builders::LayerNorm1D<4>,
    builders::Linear<4, 4>,
);

fn plain_20(m: &mut Built<Case20>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    let x = m.0.7.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case21<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 1)]
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(each)]
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
}

fn plain_21(m: &mut Case21<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case22<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case22<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = v0 - self.p.clone().cos().broadcast_like(v0.shape());
        #[checkpoint]
        let v4 = {
            #[checkpoint]
            let v4 = {
                let v2 = v1 + self.p.clone().square().broadcast_like(v1.shape());
                let v3 = v2 * v0;
                let v4 = v3 * E::from_f64(0.75).unwrap();
                v4
            };
            v4
        };
        #[checkpoint]
        let v5 = {
            let v5 = self.f0.try_forward(v4.try_cos()?)? * v1;
            let v6 = self.helper(v5);
            let v7 = v6 * E::from_f64(0.75).unwrap();
            v5
        };
        let v8 = if self.gate > 0.5 { self.f1.forward(v5) } else { v5.tanh() };
        Ok(v8)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_22(m: &mut Case22<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_cos()?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sub(p.broadcast_like(v0.shape()))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_square()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(p.broadcast_like(v1.shape()))?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_mul(v0.clone())?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let n = v4.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v5, t) = n.put_tape(t).try_mul(v1.clone())?.split_tape();
    let s = v5.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_add(s)?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v5.clone().put_tape(t))? } else { v5.clone().put_tape(t).try_tanh()? };
    let (v8, t) = y.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case23<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 2)]
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f1: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(keep)]
    f2: Linear<4, 4, E, D>,
    f3: Case5<E, D>,
    #[checkpoint(plain)]
    f4: LayerNorm1D<4, E, D>,
}

fn plain_23(m: &mut Case23<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = plain_5(&mut m.f3, x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case24<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f2: Repeated<Case5<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case24<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(plain)]
        let v1 = v0 - self.p.clone().broadcast_like(v0.shape());
        #[checkpoint(verify)]
        let v3 = {
            #[checkpoint(verify)]
            let v2 = {
                let mut v2 = v1;
                #[checkpoint]
                for block in &self.f2 {
                    v2 = block.forward(v2) + v1;
                }
                v2
            };
            #[checkpoint(plain)]
            let v3 = v2.sin();
            v3
        };
        v3
    }
}

fn plain_24(m: &mut Case24<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let p = m.p.clone();
    let (v1, t) = v0.clone().put_tape(t).try_sub(p.broadcast_like(v0.shape()))?.split_tape();
    let mut y = v1.clone().put_tape(t);
    for block in &mut m.f2.modules {
        y = plain_5(block, y)?;
        y = y.try_add(v1.clone())?;
    }
    let (v2, t) = y.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_sin()?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case25<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: Case19<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case25<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(verify)]
        let (v1, v2) = {
            let v1 = v0 + self.p.clone().broadcast_like(v0.shape());
            let v2 = if self.gate > 0.5 { self.f2.forward(v1) } else { v1.relu() };
            (v1, v2)
        };
        let v3 = v2.sin();
        #[checkpoint]
        let v4 = v3 * v1;
        #[checkpoint]
        let v6 = {
            let v5 = self.f1.forward(v4.sigmoid()) + v2;
            #[checkpoint(name = "part")]
            let v6 = self.f1.forward(v5);
            v6
        };
        v6
    }
}

fn plain_25(m: &mut Case25<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let p = m.p.clone();
    let (v1, t) = v0.clone().put_tape(t).try_add(p.broadcast_like(v0.shape()))?.split_tape();
    let y = if m.gate > 0.5 { plain_19(&mut m.f2, v1.clone().put_tape(t))? } else { v1.clone().put_tape(t).try_relu()? };
    let (v2, t) = y.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_sin()?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(v1.clone())?.split_tape();
    let n = v4.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v5, t) = n.put_tape(t).try_add(v2.clone())?.split_tape();
    let (v6, t) = m.f1.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case26<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: Case19<E, D>,
    #[checkpoint(keep)]
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(verify)]
    f2: Case19<E, D>,
    #[checkpoint(each)]
    f3: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(each)]
    f4: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[policy]
    policy: Policy,
}

fn plain_26(m: &mut Case26<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_19(&mut m.f0, x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = plain_19(&mut m.f2, x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

pub type Case27 = checkpoint_sequential!(
    segments = 9,
    builders::BatchNorm1D<4>,
    builders::Linear<4, 4>,
    builders::BatchNorm1D<4>,
    builders::Linear<4, 4>,
    Sigmoid,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    nn::Dropout,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
);

fn plain_27(m: &mut Built<Case27>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    let x = m.0.7.try_forward_mut(x)?;
    let x = m.0.8.try_forward_mut(x)?;
    let x = m.0.9.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case28<E: Dtype, D: Device<E>> {
    #[checkpoint(each)]
    f0: Repeated<Case2<E, D>, 2>,
    #[checkpoint(each)]
    f1: (Linear<4, 4, E, D>, ReLU),
    #[policy]
    policy: Policy,
}

fn plain_28(m: &mut Case28<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.f0, x, plain_2)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case29<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f1: Case9<E, D>,
    f2: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case29<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(name = "part")]
        let v1 = v0.tanh();
        let v2 = self.f1.forward(v1);
        #[checkpoint(plain)]
        let v3 = self.f2.forward(v2);
        v3
    }
}

fn plain_29(m: &mut Case29<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_tanh()?.split_tape();
    let (v2, t) = plain_9(&mut m.f1, v1.clone().put_tape(t))?.split_tape();
    let (v3, t) = m.f2.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case30<E: Dtype, D: Device<E>>(
    #[checkpoint(segments = 1, verify, name = "named")]
    Repeated<Case5<E, D>, 3>,
    Linear<4, 4, E, D>,
    #[checkpoint(keep)]
    Case2<E, D>,
    #[checkpoint]
    (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(verify)]
    Residual<(Linear<4, 4, E, D>, Tanh)>,
);

fn plain_30(m: &mut Case30<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.0, x, plain_5)?;
    let x = m.1.try_forward_mut(x)?;
    let x = plain_2(&mut m.2, x)?;
    let x = m.3.try_forward_mut(x)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case31<E: Dtype, D: Device<E>> {
    f0: Case19<E, D>,
    f1: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case31<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = v0.try_cos()?;
        let v2 = v0 + self.p.clone().broadcast_like(v0.shape());
        #[checkpoint]
        let v5 = {
            #[checkpoint(keep)]
            let v5 = {
                let v3 = v1 - v2;
                let v4 = self.f0.try_forward(v2)?;
                let v5 = self.helper(v3);
                v5
            };
            v5
        };
        Ok(v5)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_31(m: &mut Case31<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_cos()?.split_tape();
    let p = m.p.clone();
    let (v2, t) = v0.clone().put_tape(t).try_add(p.broadcast_like(v0.shape()))?.split_tape();
    let (v3, t) = v1.clone().put_tape(t).try_sub(v2.clone())?.split_tape();
    let (v4, t) = plain_19(&mut m.f0, v2.clone().put_tape(t))?.split_tape();
    let s = v3.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v5, t) = v3.clone().put_tape(t).try_add(s)?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case32<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: Repeated<Case0<E, D>, 2>,
    f2: Case2<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case32<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let (v1, v2) = {
            let v1 = v0 - self.p.clone().cos().broadcast_like(v0.shape());
            #[checkpoint]
            let v2 = v1.try_relu()?;
            (v1, v2)
        };
        let v3 = v0 * self.f1.try_forward(v2.try_sigmoid()?)?;
        let v4 = v3 + self.p.clone().relu().broadcast_like(v3.shape());
        let mut v5 = v4;
        #[checkpoint(each)]
        for block in &self.f1 {
            v5 = block.forward(v5);
        }
        let v6 = v1 * E::from_f64(0.75).unwrap();
        Ok(v6)
    }
}

fn plain_32(m: &mut Case32<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_cos()?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sub(p.broadcast_like(v0.shape()))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_relu()?.split_tape();
    let n = v2.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = many(&mut m.f1, n, plain_0)?.split_tape();
    let (v3, t) = v0.clone().put_tape(t).try_mul(n)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_add(p.broadcast_like(v3.shape()))?.split_tape();
    let mut y = v4.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = plain_0(block, y)?;
    }
    let (v5, t) = y.split_tape();
    let (v6, t) = v1.clone().put_tape(t).try_mul(0.75)?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case33<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: Case19<E, D>,
    #[checkpoint(keep)]
    f1: BatchNorm1D<4, E, D>,
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint]
    f3: Linear<4, 4, E, D>,
    #[policy]
    policy: Policy,
}

fn plain_33(m: &mut Case33<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_19(&mut m.f0, x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 7;
    pub struct Case34 {
        l0: Sigmoid,
        l1: builders::Linear<4, 4>,
        l2: builders::LayerNorm1D<4>,
        l3: builders::Linear<4, 4>,
        l4: builders::Linear<4, 4>,
        l5: nn::Dropout,
        l6: builders::Linear<4, 4>,
        l7: builders::BatchNorm1D<4>,
    }
}

fn plain_34(m: &mut Built<Case34>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    let x = m.l6.try_forward_mut(x)?;
    let x = m.l7.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case35<E: Dtype, D: Device<E>>(
    #[checkpoint(plain)]
    Case33<E, D>,
    #[checkpoint(each, name = "named")]
    Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint]
    Case5<E, D>,
);

fn plain_35(m: &mut Case35<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_33(&mut m.0, x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = plain_5(&mut m.2, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case36<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case36<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(name = "part")]
        let v3 = {
            let v1 = v0 * self.p.clone().broadcast_like(v0.shape());
            #[checkpoint]
            let v2 = self.f0.try_forward(v1)?;
            #[checkpoint]
            let v3 = self.helper(v2);
            v3
        };
        #[checkpoint(keep)]
        let v4 = if self.gate > 0.5 { self.f1.forward(v3) } else { v3.sin() };
        #[checkpoint(keep)]
        let v5 = v4.try_sigmoid()?;
        let v6 = if self.gate > 0.5 { self.f1.forward(v5) } else { v5.sigmoid() };
        Ok(v6)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f0.forward(x.sin());
        x + y
    }
}

fn plain_36(m: &mut Case36<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let p = m.p.clone();
    let (v1, t) = v0.clone().put_tape(t).try_mul(p.broadcast_like(v0.shape()))?.split_tape();
    let (v2, t) = m.f0.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let s = v2.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f0.try_forward_mut(s)?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(s)?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v3.clone().put_tape(t))? } else { v3.clone().put_tape(t).try_sin()? };
    let (v4, t) = y.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_sigmoid()?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v5.clone().put_tape(t))? } else { v5.clone().put_tape(t).try_sigmoid()? };
    let (v6, t) = y.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case37<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 1, name = "named")]
    f0: Repeated<Case33<E, D>, 2>,
    #[checkpoint(segments = 1, verify)]
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    f2: BatchNorm1D<4, E, D>,
}

fn plain_37(m: &mut Case37<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.f0, x, plain_33)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case38<E: Dtype, D: Device<E>> {
    f0: Repeated<Case9<E, D>, 2>,
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case38<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0.cos();
        #[checkpoint(keep)]
        let v3 = {
            #[checkpoint]
            let v3 = {
                let v2 = v1.cos();
                let v3 = v2.relu();
                v3
            };
            v3
        };
        let v4 = v0 * self.f1.forward(v3.tanh());
        let v5 = v4 * v1;
        let v6 = v5.square();
        v6
    }
}

fn plain_38(m: &mut Case38<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_cos()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_relu()?.split_tape();
    let n = v3.clone().put_tape(t).try_tanh()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v4, t) = v0.clone().put_tape(t).try_mul(n)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(v1.clone())?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_square()?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case39<E: Dtype, D: Device<E>> {
    f0: Case2<E, D>,
    f1: LayerNorm1D<4, E, D>,
    f2: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case39<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(name = "part")]
        let v2 = {
            let v1 = self.f2.try_forward(v0.try_sigmoid()?)? + v0;
            let v2 = v1 * E::from_f64(0.75).unwrap();
            let v3 = if self.gate > 0.5 { self.f0.forward(v2) } else { v2.relu() };
            v2
        };
        let v4 = self.f2.try_forward(v2)?;
        let v5 = v0 - self.p.clone().tanh().broadcast_like(v0.shape());
        Ok(v5)
    }
}

fn plain_39(m: &mut Case39<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v1, t) = n.put_tape(t).try_add(v0.clone())?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let y = if m.gate > 0.5 { plain_2(&mut m.f0, v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_relu()? };
    let (v3, t) = y.split_tape();
    let (v4, t) = m.f2.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_tanh()?.split_tape();
    let (v5, t) = v0.clone().put_tape(t).try_sub(p.broadcast_like(v0.shape()))?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case40<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 3)]
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(segments = 1, name = "named")]
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(verify, name = "named")]
    f2: Linear<4, 4, E, D>,
    f3: LayerNorm1D<4, E, D>,
}

fn plain_40(m: &mut Case40<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

pub type Case41 = checkpoint_sequential!(
    segments = 6,
    Sigmoid,
    Tanh,
    builders::BatchNorm1D<4>,
    nn::Dropout,
    Sigmoid,
    (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
);

fn plain_41(m: &mut Built<Case41>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case42<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 1)]
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(name = "named")]
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(plain)]
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(keep)]
    f3: Case19<E, D>,
}

fn plain_42(m: &mut Case42<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = plain_19(&mut m.f3, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case43<E: Dtype, D: Device<E>> {
    f0: Repeated<Case19<E, D>, 2>,
    f1: LayerNorm1D<4, E, D>,
    f2: Case0<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case43<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = if self.gate > 0.5 { self.f2.forward(v0) } else { v0.relu() };
        let v2 = v1 + v0;
        let v3 = v0.sin();
        #[checkpoint]
        let v4 = self.f1.forward(v1);
        let mut v5 = v4;
        #[checkpoint(each)]
        for block in &self.f0 {
            v5 = block.forward(v5);
        }
        #[checkpoint]
        let v6 = self.f1.forward(v5);
        v6
    }
}

fn plain_43(m: &mut Case43<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let y = if m.gate > 0.5 { plain_0(&mut m.f2, v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_relu()? };
    let (v1, t) = y.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(v0.clone())?.split_tape();
    let (v3, t) = v0.clone().put_tape(t).try_sin()?.split_tape();
    let (v4, t) = m.f1.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let mut y = v4.clone().put_tape(t);
    for block in &mut m.f0.modules {
        y = plain_19(block, y)?;
    }
    let (v5, t) = y.split_tape();
    let (v6, t) = m.f1.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case44<E: Dtype, D: Device<E>> {
    #[checkpoint(each)]
    f0: Repeated<Case2<E, D>, 3>,
    #[checkpoint(segments = 2)]
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(plain)]
    f2: Linear<4, 4, E, D>,
    #[checkpoint(keep)]
    f3: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    f4: Case19<E, D>,
}

fn plain_44(m: &mut Case44<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.f0, x, plain_2)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = plain_19(&mut m.f4, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case45<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case45<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(plain)]
        let (v1, v3) = {
            let v1 = v0.relu();
            let v2 = v1.cos();
            let v3 = v2 - v0;
            (v1, v3)
        };
        #[checkpoint]
        let v5 = {
            let v4 = self.f2.forward(v1);
            let v5 = v3 + self.f2.forward(v4.sigmoid());
            v5
        };
        #[checkpoint]
        let v7 = {
            #[checkpoint]
            let v7 = {
                let v6 = v5 - self.p.clone().square().broadcast_like(v5.shape());
                let v7 = self.helper(v6);
                v7
            };
            v7
        };
        v7
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f2.forward(x.sin());
        x + y
    }
}

fn plain_45(m: &mut Case45<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_relu()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_sub(v0.clone())?.split_tape();
    let (v4, t) = m.f2.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let n = v4.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v5, t) = v3.clone().put_tape(t).try_add(n)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_square()?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_sub(p.broadcast_like(v5.shape()))?.split_tape();
    let s = v6.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f2.try_forward_mut(s)?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_add(s)?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case46<E: Dtype, D: Device<E>> {
    f0: Repeated<Case33<E, D>, 3>,
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f2: LayerNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case46<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 + self.p.clone().sigmoid().broadcast_like(v0.shape());
        let v2 = self.f0.forward(v0.square()) * v1;
        #[checkpoint]
        let v3 = self.f2.forward(v2);
        #[checkpoint(keep)]
        let v4 = if self.gate > 0.5 { self.f2.forward(v3) } else { v3.cos() };
        #[checkpoint]
        let v5 = v4 + v0;
        v5
    }
}

fn plain_46(m: &mut Case46<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(p.broadcast_like(v0.shape()))?.split_tape();
    let n = v0.clone().put_tape(t).try_square()?;
    let (n, t) = many(&mut m.f0, n, plain_33)?.split_tape();
    let (v2, t) = n.put_tape(t).try_mul(v1.clone())?.split_tape();
    let (v3, t) = m.f2.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let y = if m.gate > 0.5 { m.f2.try_forward_mut(v3.clone().put_tape(t))? } else { v3.clone().put_tape(t).try_cos()? };
    let (v4, t) = y.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(v0.clone())?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case47<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(each, verify)]
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
}

fn plain_47(m: &mut Case47<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

pub type Case48 = checkpoint_sequential!(
    segments = 7,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    Sigmoid,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    builders::Linear<4, 4>,
    builders::BatchNorm1D<4>,
    nn::Dropout,
);

fn plain_48(m: &mut Built<Case48>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    let x = m.0.7.try_forward_mut(x)?;
    let x = m.0.8.try_forward_mut(x)?;
    let x = m.0.9.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case49<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    f1: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(keep)]
    f2: LayerNorm1D<4, E, D>,
    #[checkpoint(each)]
    f3: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(each)]
    f4: Repeated<Case2<E, D>, 3>,
}

fn plain_49(m: &mut Case49<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = many(&mut m.f4, x, plain_2)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case50<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Case40<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case50<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v2 = {
            let v1 = v0.square();
            #[checkpoint]
            let v2 = v1 - self.p.clone().broadcast_like(v1.shape());
            v2
        };
        let v3 = v2.sin();
        v3
    }
}

fn plain_50(m: &mut Case50<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_square()?.split_tape();
    let p = m.p.clone();
    let (v2, t) = v1.clone().put_tape(t).try_sub(p.broadcast_like(v1.shape()))?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_sin()?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case51<E: Dtype, D: Device<E>> {
    #[checkpoint(keep)]
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(segments = 3, verify, name = "named")]
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint]
    f2: Case40<E, D>,
    #[checkpoint(keep)]
    f3: Case5<E, D>,
    #[checkpoint(segments = 3)]
    f4: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
}

fn plain_51(m: &mut Case51<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = plain_40(&mut m.f2, x)?;
    let x = plain_5(&mut m.f3, x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case52<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: LayerNorm1D<4, E, D>,
    f2: LayerNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case52<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v1 = v0.sin();
        let v2 = v1.relu();
        let v3 = v2.tanh();
        #[checkpoint]
        let v5 = {
            #[checkpoint(name = "part")]
            let v5 = {
                let v4 = v3 * E::from_f64(0.75).unwrap();
                let v5 = self.f1.forward(v4);
                v5
            };
            v5
        };
        v5
    }
}

fn plain_52(m: &mut Case52<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sin()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_relu()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_tanh()?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v5, t) = m.f1.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case53<E: Dtype, D: Device<E>> {
    f0: Repeated<Case2<E, D>, 3>,
    f1: LayerNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case53<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 - self.f1.forward(v0.square());
        #[checkpoint(keep)]
        let v2 = v1.tanh();
        let v3 = v2.square();
        #[checkpoint]
        let v5 = {
            #[checkpoint]
            let v5 = {
                let v4 = v0 * self.p.clone().square().broadcast_like(v0.shape());
                let v5 = v0 - v2;
                v5
            };
            v5
        };
        let v6 = v5 - v1;
        let v7 = v1 * self.f0.forward(v6.sin());
        v7
    }
}

fn plain_53(m: &mut Case53<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_square()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sub(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_tanh()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_square()?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_square()?.split_tape();
    let (v4, t) = v0.clone().put_tape(t).try_mul(p.broadcast_like(v0.shape()))?.split_tape();
    let (v5, t) = v0.clone().put_tape(t).try_sub(v2.clone())?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_sub(v1.clone())?.split_tape();
    let n = v6.clone().put_tape(t).try_sin()?;
    let (n, t) = many(&mut m.f0, n, plain_2)?.split_tape();
    let (v7, t) = v1.clone().put_tape(t).try_mul(n)?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case54<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Linear<4, 4, E, D>,
    #[checkpoint(each, verify)]
    f1: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint]
    f2: Case19<E, D>,
}

fn plain_54(m: &mut Case54<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = plain_19(&mut m.f2, x)?;
    Ok(x)
}

checkpoint_sequential! {
    each;
    pub struct Case55 {
        l0: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l1: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l2: builders::Linear<4, 4>,
    }
}

fn plain_55(m: &mut Built<Case55>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case56<E: Dtype, D: Device<E>>(
    #[checkpoint(plain)]
    LayerNorm1D<4, E, D>,
    #[checkpoint]
    BatchNorm1D<4, E, D>,
    #[checkpoint(verify)]
    Residual<(Linear<4, 4, E, D>, Tanh)>,
    Repeated<Case54<E, D>, 3>,
    #[checkpoint(name = "named")]
    Linear<4, 4, E, D>,
);

fn plain_56(m: &mut Case56<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = many(&mut m.3, x, plain_54)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case57<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Linear<4, 4, E, D>,
    f2: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case57<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(name = "part")]
        let v2 = {
            let v1 = v0 + self.f0.try_forward(v0.try_sin()?)?;
            #[checkpoint(name = "part")]
            let v2 = v1.try_sigmoid()?;
            v2
        };
        let v3 = v2 + v0;
        let v4 = v3 - self.p.clone().broadcast_like(v3.shape());
        Ok(v4)
    }
}

fn plain_57(m: &mut Case57<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sin()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(v0.clone())?.split_tape();
    let p = m.p.clone();
    let (v4, t) = v3.clone().put_tape(t).try_sub(p.broadcast_like(v3.shape()))?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case58<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    f1: Case9<E, D>,
    #[checkpoint(segments = 2, verify)]
    f2: (Linear<4, 4, E, D>, nn::Dropout),
}

fn plain_58(m: &mut Case58<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_9(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case59<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case59<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v3 = {
            let v1 = self.f2.forward(v0.sin()) - v0;
            let v2 = v1 + v0;
            #[checkpoint]
            let v3 = self.f0.forward(v2);
            v3
        };
        let mut v4 = v3;
        #[checkpoint(segments = 2)]
        for block in &self.f2 {
            v4 = block.forward(v4) + v3;
        }
        let v5 = v4 * E::from_f64(0.75).unwrap();
        #[checkpoint]
        let v6 = self.f0.forward(v5);
        #[checkpoint]
        let v7 = v6 * v5;
        v7
    }
}

fn plain_59(m: &mut Case59<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sin()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v1, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(v0.clone())?.split_tape();
    let (v3, t) = m.f0.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let mut y = v3.clone().put_tape(t);
    for block in &mut m.f2.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v3.clone())?;
    }
    let (v4, t) = y.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v6, t) = m.f0.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_mul(v5.clone())?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case60<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f2: Linear<4, 4, E, D>,
    f3: Repeated<Case5<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case60<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = if self.gate > 0.5 { self.f0.forward(v0) } else { v0.square() };
        let v2 = v1 + self.p.clone().broadcast_like(v1.shape());
        #[checkpoint(plain)]
        let v3 = self.f2.forward(v2);
        let mut v4 = v3;
        for block in &self.f3 {
            v4 = block.forward(v4) + v3;
        }
        let v5 = v4.square();
        let v6 = self.f2.forward(v5);
        v6
    }
}

fn plain_60(m: &mut Case60<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_square()? };
    let (v1, t) = y.split_tape();
    let p = m.p.clone();
    let (v2, t) = v1.clone().put_tape(t).try_add(p.broadcast_like(v1.shape()))?.split_tape();
    let (v3, t) = m.f2.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let mut y = v3.clone().put_tape(t);
    for block in &mut m.f3.modules {
        y = plain_5(block, y)?;
        y = y.try_add(v3.clone())?;
    }
    let (v4, t) = y.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_square()?.split_tape();
    let (v6, t) = m.f2.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case61<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: Linear<4, 4, E, D>,
    #[checkpoint(segments = 2)]
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(name = "named")]
    f2: LayerNorm1D<4, E, D>,
}

fn plain_61(m: &mut Case61<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

pub type Case62 = checkpoint_sequential!(
    segments = 5,
    builders::Linear<4, 4>,
    Sigmoid,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    Tanh,
    builders::LayerNorm1D<4>,
    builders::Linear<4, 4>,
);

fn plain_62(m: &mut Built<Case62>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case63<E: Dtype, D: Device<E>>(
    #[checkpoint(name = "named")]
    Case5<E, D>,
    Linear<4, 4, E, D>,
    #[checkpoint]
    (Linear<4, 4, E, D>, nn::Dropout),
    #[policy]
    Policy,
);

fn plain_63(m: &mut Case63<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_5(&mut m.0, x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case64<E: Dtype, D: Device<E>> {
    f0: Repeated<Case61<E, D>, 2>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case64<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v1 = {
            let v1 = v0.sigmoid();
            let mut v2 = v1;
            #[checkpoint(segments = 2)]
            for block in &self.f1 {
                v2 = block.forward(v2) + v1;
            }
            v1
        };
        let v3 = v1.square();
        v3
    }
}

fn plain_64(m: &mut Case64<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sigmoid()?.split_tape();
    let mut y = v1.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v1.clone())?;
    }
    let (v2, t) = y.split_tape();
    let (v3, t) = v1.clone().put_tape(t).try_square()?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case65<E: Dtype, D: Device<E>> {
    #[checkpoint(each)]
    f0: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(name = "named")]
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    f2: BatchNorm1D<4, E, D>,
}

fn plain_65(m: &mut Case65<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case66<E: Dtype, D: Device<E>> {
    f0: Case58<E, D>,
    f1: Case61<E, D>,
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case66<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = if self.gate > 0.5 { self.f1.forward(v0) } else { v0.cos() };
        #[checkpoint(verify)]
        let v2 = self.helper(v1);
        let v3 = self.f0.forward(v2);
        #[checkpoint]
        let v4 = v3 * E::from_f64(0.75).unwrap();
        v4
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_66(m: &mut Case66<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let y = if m.gate > 0.5 { plain_61(&mut m.f1, v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_cos()? };
    let (v1, t) = y.split_tape();
    let s = v1.clone().put_tape(t).try_sin()?;
    let (s, t) = plain_61(&mut m.f1, s)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(s)?.split_tape();
    let (v3, t) = plain_58(&mut m.f0, v2.clone().put_tape(t))?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(0.75)?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case67<E: Dtype, D: Device<E>> {
    f0: Case65<E, D>,
    f1: Linear<4, 4, E, D>,
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case67<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let mut v1 = v0;
        #[checkpoint(segments = 1)]
        for block in &self.f2 {
            v1 = block.forward(v1) + v0;
        }
        let v2 = if self.gate > 0.5 { self.f0.forward(v0) } else { v0.sin() };
        let v3 = v2.try_tanh()?;
        let v4 = self.f1.try_forward(v2.try_tanh()?)? * v2;
        let v5 = v4 + v2;
        #[checkpoint]
        let v8 = {
            let v6 = self.f1.try_forward(v5)?;
            let v7 = v6 - v5;
            let mut v8 = v7;
            #[checkpoint]
            for block in &self.f2 {
                v8 = block.forward(v8);
            }
            v8
        };
        Ok(v8)
    }
}

fn plain_67(m: &mut Case67<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f2.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v0.clone())?;
    }
    let (v1, t) = y.split_tape();
    let y = if m.gate > 0.5 { plain_65(&mut m.f0, v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_sin()? };
    let (v2, t) = y.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_tanh()?.split_tape();
    let n = v2.clone().put_tape(t).try_tanh()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_mul(v2.clone())?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(v2.clone())?.split_tape();
    let (v6, t) = m.f1.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_sub(v5.clone())?.split_tape();
    let mut y = v7.clone().put_tape(t);
    for block in &mut m.f2.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v8, t) = y.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case68<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint]
    f1: Case63<E, D>,
    #[checkpoint(segments = 1, verify)]
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint]
    f3: Linear<4, 4, E, D>,
}

fn plain_68(m: &mut Case68<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_63(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

pub type Case69 = checkpoint_sequential!(
    segments = 8,
    nn::Dropout,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    Tanh,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    builders::LayerNorm1D<4>,
    builders::BatchNorm1D<4>,
    Tanh,
);

fn plain_69(m: &mut Built<Case69>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    let x = m.0.7.try_forward_mut(x)?;
    let x = m.0.8.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case70<E: Dtype, D: Device<E>>(
    #[checkpoint(keep)]
    Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(plain)]
    Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[checkpoint]
    Repeated<Case19<E, D>, 2>,
    #[checkpoint(each)]
    (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint]
    Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[policy]
    Policy,
);

fn plain_70(m: &mut Case70<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = many(&mut m.2, x, plain_19)?;
    let x = m.3.try_forward_mut(x)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case71<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case71<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(plain)]
        let v1 = self.f0.forward(v0.tanh()) * v0;
        let v2 = v1.sigmoid();
        #[checkpoint]
        let (v4, v5) = {
            let v3 = v2 + self.p.clone().sigmoid().broadcast_like(v2.shape());
            #[checkpoint(verify)]
            let (v4, v5) = {
                let v4 = self.helper(v3);
                let v5 = self.f1.forward(v4);
                (v4, v5)
            };
            (v4, v5)
        };
        let v6 = self.f0.forward(v5.sin()) + v1;
        #[checkpoint(plain)]
        let v8 = {
            let v7 = v0 + v4;
            #[checkpoint(verify)]
            let v8 = self.f0.forward(v2.sigmoid()) - v0;
            v8
        };
        v8
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_71(m: &mut Case71<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_tanh()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v1, t) = n.put_tape(t).try_mul(v0.clone())?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(p.broadcast_like(v2.shape()))?.split_tape();
    let s = v3.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_add(s)?.split_tape();
    let (v5, t) = m.f1.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    let n = v5.clone().put_tape(t).try_sin()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v6, t) = n.put_tape(t).try_add(v1.clone())?.split_tape();
    let (v7, t) = v0.clone().put_tape(t).try_add(v4.clone())?.split_tape();
    let n = v2.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v8, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case72<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Linear<4, 4, E, D>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(segments = 1, verify)]
    f2: Repeated<Case58<E, D>, 2>,
}

fn plain_72(m: &mut Case72<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = many(&mut m.f2, x, plain_58)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case73<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Linear<4, 4, E, D>,
    f2: Repeated<Case33<E, D>, 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case73<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = self.f1.forward(v0);
        let v2 = if self.gate > 0.5 { self.f2.forward(v1) } else { v1.sin() };
        #[checkpoint(keep)]
        let v3 = v2 + self.p.clone().broadcast_like(v2.shape());
        v3
    }
}

fn plain_73(m: &mut Case73<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let y = if m.gate > 0.5 { many(&mut m.f2, v1.clone().put_tape(t), plain_33)? } else { v1.clone().put_tape(t).try_sin()? };
    let (v2, t) = y.split_tape();
    let p = m.p.clone();
    let (v3, t) = v2.clone().put_tape(t).try_add(p.broadcast_like(v2.shape()))?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case74<E: Dtype, D: Device<E>> {
    f0: Case58<E, D>,
    f1: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case74<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 * E::from_f64(0.75).unwrap();
        #[checkpoint]
        let v3 = {
            let v2 = v0.sin();
            #[checkpoint]
            let v3 = v2.square();
            v3
        };
        v3
    }
}

fn plain_74(m: &mut Case74<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v2, t) = v0.clone().put_tape(t).try_sin()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_square()?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case75<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 1)]
    f0: Repeated<Case9<E, D>, 2>,
    #[checkpoint(keep)]
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(keep)]
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(verify)]
    f3: LayerNorm1D<4, E, D>,
    #[checkpoint]
    f4: (Linear<4, 4, E, D>, ReLU),
}

fn plain_75(m: &mut Case75<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.f0, x, plain_9)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 3;
    pub struct Case76 {
        l0: Tanh,
        l1: Residual<(builders::Linear<4, 4>, Tanh)>,
        l2: builders::Linear<4, 4>,
        l3: builders::BatchNorm1D<4>,
        l4: Residual<(builders::Linear<4, 4>, Tanh)>,
        l5: builders::Linear<4, 4>,
        l6: Residual<(builders::Linear<4, 4>, Tanh)>,
        l7: Tanh,
        l8: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l9: nn::Dropout,
    }
}

fn plain_76(m: &mut Built<Case76>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    let x = m.l6.try_forward_mut(x)?;
    let x = m.l7.try_forward_mut(x)?;
    let x = m.l8.try_forward_mut(x)?;
    let x = m.l9.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case77<E: Dtype, D: Device<E>>(
    LayerNorm1D<4, E, D>,
    (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(verify)]
    Linear<4, 4, E, D>,
    #[checkpoint(segments = 1)]
    Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[checkpoint]
    LayerNorm1D<4, E, D>,
);

fn plain_77(m: &mut Case77<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = m.3.try_forward_mut(x)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case78<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f1: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case78<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(name = "part")]
        let v1 = v0.relu();
        let v2 = v1.sigmoid();
        #[checkpoint(plain)]
        let (v3, v4) = {
            let v3 = self.f0.forward(v0.relu()) + v2;
            let v4 = v2 + v1;
            (v3, v4)
        };
        #[checkpoint]
        let v5 = self.f0.forward(v4);
        let v6 = v5.square();
        let v7 = self.f1.forward(v6);
        let v8 = if self.gate > 0.5 { self.f0.forward(v3) } else { v3.relu() };
        v8
    }
}

fn plain_78(m: &mut Case78<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_relu()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sigmoid()?.split_tape();
    let n = v0.clone().put_tape(t).try_relu()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v3, t) = n.put_tape(t).try_add(v2.clone())?.split_tape();
    let (v4, t) = v2.clone().put_tape(t).try_add(v1.clone())?.split_tape();
    let (v5, t) = m.f0.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_square()?.split_tape();
    let (v7, t) = m.f1.try_forward_mut(v6.clone().put_tape(t))?.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v3.clone().put_tape(t))? } else { v3.clone().put_tape(t).try_relu()? };
    let (v8, t) = y.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case79<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: LayerNorm1D<4, E, D>,
    f1: Case65<E, D>,
    #[checkpoint(verify)]
    f2: LayerNorm1D<4, E, D>,
    f3: Residual<(Linear<4, 4, E, D>, Tanh)>,
}

fn plain_79(m: &mut Case79<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_65(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case80<E: Dtype, D: Device<E>> {
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    f2: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case80<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(plain)]
        let (v2, v3) = {
            let v1 = self.f1.forward(v0);
            #[checkpoint]
            let (v2, v3) = {
                let v2 = self.f1.forward(v1);
                let v3 = v1 + self.f2.forward(v2.square());
                (v2, v3)
            };
            (v2, v3)
        };
        let mut v4 = v3;
        #[checkpoint(segments = 1)]
        for block in &self.f0 {
            v4 = block.forward(v4) + v3;
        }
        let v5 = v4 + v2;
        let v6 = v5 * self.p.clone().relu().broadcast_like(v5.shape());
        let v7 = if self.gate > 0.5 { self.f2.forward(v2) } else { v2.sin() };
        v7
    }
}

fn plain_80(m: &mut Case80<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = m.f1.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let n = v2.clone().put_tape(t).try_square()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v3, t) = v1.clone().put_tape(t).try_add(n)?.split_tape();
    let mut y = v3.clone().put_tape(t);
    for block in &mut m.f0.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v3.clone())?;
    }
    let (v4, t) = y.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(v2.clone())?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_mul(p.broadcast_like(v5.shape()))?.split_tape();
    let y = if m.gate > 0.5 { m.f2.try_forward_mut(v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_sin()? };
    let (v7, t) = y.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case81<E: Dtype, D: Device<E>> {
    f0: Repeated<Case58<E, D>, 3>,
    f1: Repeated<Case63<E, D>, 2>,
    f2: Case33<E, D>,
    f3: Repeated<Case19<E, D>, 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case81<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let v1 = {
            let v1 = self.f0.try_forward(v0.try_relu()?)? - v0;
            let v2 = v1 * self.f3.try_forward(v1.try_tanh()?)?;
            v1
        };
        let mut v3 = v1;
        #[checkpoint(segments = 2)]
        for block in &self.f3 {
            v3 = block.forward(v3) + v1;
        }
        let v4 = self.f1.try_forward(v3.try_sigmoid()?)? + v1;
        let v5 = v4 * v0;
        Ok(v5)
    }
}

fn plain_81(m: &mut Case81<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_relu()?;
    let (n, t) = many(&mut m.f0, n, plain_58)?.split_tape();
    let (v1, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    let n = v1.clone().put_tape(t).try_tanh()?;
    let (n, t) = many(&mut m.f3, n, plain_19)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_mul(n)?.split_tape();
    let mut y = v1.clone().put_tape(t);
    for block in &mut m.f3.modules {
        y = plain_19(block, y)?;
        y = y.try_add(v1.clone())?;
    }
    let (v3, t) = y.split_tape();
    let n = v3.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = many(&mut m.f1, n, plain_63)?.split_tape();
    let (v4, t) = n.put_tape(t).try_add(v1.clone())?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(v0.clone())?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case82<E: Dtype, D: Device<E>>(
    Linear<4, 4, E, D>,
    #[checkpoint]
    (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(name = "named")]
    Linear<4, 4, E, D>,
    BatchNorm1D<4, E, D>,
    #[checkpoint]
    Residual<(Linear<4, 4, E, D>, Tanh)>,
);

fn plain_82(m: &mut Case82<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = m.3.try_forward_mut(x)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 2;
    pub struct Case83 {
        l0: Residual<(builders::Linear<4, 4>, Tanh)>,
        l1: Residual<(builders::Linear<4, 4>, Tanh)>,
        l2: Residual<(builders::Linear<4, 4>, Tanh)>,
        l3: Sigmoid,
    }
}

fn plain_83(m: &mut Built<Case83>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case84<E: Dtype, D: Device<E>> {
    #[checkpoint(name = "named")]
    f0: Linear<4, 4, E, D>,
    #[checkpoint(keep)]
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(each)]
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
}

fn plain_84(m: &mut Case84<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case85<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: Case63<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case85<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 + self.f2.forward(v0.relu());
        let v2 = self.f0.forward(v1);
        let v3 = if self.gate > 0.5 { self.f0.forward(v2) } else { v2.sigmoid() };
        #[checkpoint(name = "part")]
        let v4 = v0 * v3;
        #[checkpoint]
        let v5 = self.helper(v4);
        let v6 = v1.cos();
        let v7 = v5 + self.f0.forward(v1.square());
        #[checkpoint]
        let v8 = self.f2.forward(v7);
        v8
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_85(m: &mut Case85<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_relu()?;
    let (n, t) = plain_63(&mut m.f2, n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    let (v2, t) = m.f0.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_sigmoid()? };
    let (v3, t) = y.split_tape();
    let (v4, t) = v0.clone().put_tape(t).try_mul(v3.clone())?.split_tape();
    let s = v4.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(s)?.split_tape();
    let (v6, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let n = v1.clone().put_tape(t).try_square()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v7, t) = v5.clone().put_tape(t).try_add(n)?.split_tape();
    let (v8, t) = plain_63(&mut m.f2, v7.clone().put_tape(t))?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case86<E: Dtype, D: Device<E>>(
    #[checkpoint]
    Case54<E, D>,
    #[checkpoint(verify)]
    Linear<4, 4, E, D>,
    #[checkpoint(name = "named")]
    LayerNorm1D<4, E, D>,
    #[checkpoint(keep)]
    LayerNorm1D<4, E, D>,
    #[checkpoint(keep)]
    BatchNorm1D<4, E, D>,
    #[policy]
    Policy,
);

fn plain_86(m: &mut Case86<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_54(&mut m.0, x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = m.3.try_forward_mut(x)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case87<E: Dtype, D: Device<E>> {
    f0: Case54<E, D>,
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case87<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = self.f0.forward(v0.square()) - v0;
        #[checkpoint]
        let v3 = {
            let v2 = self.f1.forward(v1);
            let v3 = self.f0.forward(v2.relu()) + v0;
            v3
        };
        let v4 = v3 * E::from_f64(0.75).unwrap();
        let v5 = v4.relu();
        #[checkpoint(keep)]
        let v6 = v3 * self.f0.forward(v5.relu());
        v6
    }
}

fn plain_87(m: &mut Case87<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_square()?;
    let (n, t) = plain_54(&mut m.f0, n)?.split_tape();
    let (v1, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    let (v2, t) = m.f1.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let n = v2.clone().put_tape(t).try_relu()?;
    let (n, t) = plain_54(&mut m.f0, n)?.split_tape();
    let (v3, t) = n.put_tape(t).try_add(v0.clone())?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_relu()?.split_tape();
    let n = v5.clone().put_tape(t).try_relu()?;
    let (n, t) = plain_54(&mut m.f0, n)?.split_tape();
    let (v6, t) = v3.clone().put_tape(t).try_mul(n)?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case88<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f3: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case88<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(plain)]
        let v2 = {
            let mut v1 = v0;
            #[checkpoint(each)]
            for block in &self.f1 {
                v1 = block.forward(v1) + v0;
            }
            let v2 = v0.try_sin()?;
            v2
        };
        let mut v3 = v2;
        #[checkpoint(segments = 2)]
        for block in &self.f3 {
            v3 = block.forward(v3) + v2;
        }
        let v4 = v3 * self.p.clone().cos().broadcast_like(v3.shape());
        #[checkpoint]
        let v7 = {
            let v5 = self.helper(v4);
            #[checkpoint]
            let v7 = {
                let v6 = v5.try_cos()?;
                let v7 = self.f1.try_forward(v5.try_sigmoid()?)? - v2;
                v7
            };
            v7
        };
        let v8 = self.f2.try_forward(v7)?;
        Ok(v8)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f3.forward(x.sin());
        x + y
    }
}

fn plain_88(m: &mut Case88<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v0.clone())?;
    }
    let (v1, t) = y.split_tape();
    let (v2, t) = v0.clone().put_tape(t).try_sin()?.split_tape();
    let mut y = v2.clone().put_tape(t);
    for block in &mut m.f3.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v2.clone())?;
    }
    let (v3, t) = y.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_cos()?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(p.broadcast_like(v3.shape()))?.split_tape();
    let s = v4.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f3.try_forward_mut(s)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(s)?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_cos()?.split_tape();
    let n = v5.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v7, t) = n.put_tape(t).try_sub(v2.clone())?.split_tape();
    let (v8, t) = m.f2.try_forward_mut(v7.clone().put_tape(t))?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case89<E: Dtype, D: Device<E>> {
    f0: Case58<E, D>,
    f1: LayerNorm1D<4, E, D>,
    #[checkpoint(keep)]
    f2: Linear<4, 4, E, D>,
    #[checkpoint(verify)]
    f3: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint]
    f4: Case40<E, D>,
    #[policy]
    policy: Policy,
}

fn plain_89(m: &mut Case89<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_58(&mut m.f0, x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = plain_40(&mut m.f4, x)?;
    Ok(x)
}

pub type Case90 = checkpoint_sequential!(
    each,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
    builders::Linear<4, 4>,
    builders::BatchNorm1D<4>,
);

fn plain_90(m: &mut Built<Case90>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case91<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: Linear<4, 4, E, D>,
    #[checkpoint]
    f1: Case82<E, D>,
    f2: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[policy]
    policy: Policy,
}

fn plain_91(m: &mut Case91<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_82(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case92<E: Dtype, D: Device<E>> {
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case92<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v2 = {
            let mut v1 = v0;
            #[checkpoint(each)]
            for block in &self.f1 {
                v1 = block.forward(v1);
            }
            let v2 = v1.cos();
            let v3 = self.f0.forward(v1.cos()) + v2;
            v2
        };
        #[checkpoint(plain)]
        let v4 = self.helper(v2);
        #[checkpoint]
        let v6 = {
            #[checkpoint]
            let v6 = {
                let v5 = if self.gate > 0.5 { self.f2.forward(v4) } else { v4.sigmoid() };
                let v6 = self.helper(v5);
                v6
            };
            v6
        };
        v6
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_92(m: &mut Case92<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v1, t) = y.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let n = v1.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v3, t) = n.put_tape(t).try_add(v2.clone())?.split_tape();
    let s = v2.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v4, t) = v2.clone().put_tape(t).try_add(s)?.split_tape();
    let y = if m.gate > 0.5 { m.f2.try_forward_mut(v4.clone().put_tape(t))? } else { v4.clone().put_tape(t).try_sigmoid()? };
    let (v5, t) = y.split_tape();
    let s = v5.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_add(s)?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case93<E: Dtype, D: Device<E>> {
    #[checkpoint(name = "named")]
    f0: LayerNorm1D<4, E, D>,
    f1: Linear<4, 4, E, D>,
    #[checkpoint(each)]
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(segments = 2)]
    f3: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[policy]
    policy: Policy,
}

fn plain_93(m: &mut Case93<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case94<E: Dtype, D: Device<E>> {
    f0: Repeated<Case63<E, D>, 2>,
    f1: Linear<4, 4, E, D>,
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case94<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(verify)]
        let v1 = self.f1.forward(v0);
        #[checkpoint(keep)]
        let v4 = {
            let v2 = v1 - self.p.clone().broadcast_like(v1.shape());
            let v3 = self.f2.forward(v0);
            #[checkpoint(keep)]
            let v4 = v3.cos();
            v4
        };
        #[checkpoint(verify)]
        let v6 = {
            #[checkpoint(name = "part")]
            let v6 = {
                let v5 = v4 + self.p.clone().broadcast_like(v4.shape());
                let v6 = v5 + self.p.clone().broadcast_like(v5.shape());
                v6
            };
            v6
        };
        let v7 = v6 - self.p.clone().broadcast_like(v6.shape());
        v7
    }
}

fn plain_94(m: &mut Case94<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let p = m.p.clone();
    let (v2, t) = v1.clone().put_tape(t).try_sub(p.broadcast_like(v1.shape()))?.split_tape();
    let (v3, t) = m.f2.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_cos()?.split_tape();
    let p = m.p.clone();
    let (v5, t) = v4.clone().put_tape(t).try_add(p.broadcast_like(v4.shape()))?.split_tape();
    let p = m.p.clone();
    let (v6, t) = v5.clone().put_tape(t).try_add(p.broadcast_like(v5.shape()))?.split_tape();
    let p = m.p.clone();
    let (v7, t) = v6.clone().put_tape(t).try_sub(p.broadcast_like(v6.shape()))?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case95<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: Repeated<Case9<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case95<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(name = "part")]
        let (v1, v2) = {
            let v1 = self.helper(v0);
            let v2 = v1 - self.f0.try_forward(v1.try_square()?)?;
            (v1, v2)
        };
        let v3 = self.f1.try_forward(v2)?;
        #[checkpoint(plain)]
        let v6 = {
            let v4 = v3 * E::from_f64(0.75).unwrap();
            #[checkpoint(plain)]
            let v5 = v4 + self.p.clone().broadcast_like(v4.shape());
            #[checkpoint(plain)]
            let v6 = self.f0.try_forward(v5)?;
            v6
        };
        let v7 = v6 * v1;
        let v8 = v7 + self.p.clone().broadcast_like(v7.shape());
        Ok(v8)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f2.forward(x.sin());
        x + y
    }
}

fn plain_95(m: &mut Case95<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let s = v0.clone().put_tape(t).try_sin()?;
    let (s, t) = many(&mut m.f2, s, plain_9)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(s)?.split_tape();
    let n = v1.clone().put_tape(t).try_square()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sub(n)?.split_tape();
    let (v3, t) = m.f1.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let p = m.p.clone();
    let (v5, t) = v4.clone().put_tape(t).try_add(p.broadcast_like(v4.shape()))?.split_tape();
    let (v6, t) = m.f0.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_mul(v1.clone())?.split_tape();
    let p = m.p.clone();
    let (v8, t) = v7.clone().put_tape(t).try_add(p.broadcast_like(v7.shape()))?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case96<E: Dtype, D: Device<E>>(
    #[checkpoint(verify)]
    LayerNorm1D<4, E, D>,
    #[checkpoint(keep)]
    Case19<E, D>,
    #[checkpoint(keep)]
    Linear<4, 4, E, D>,
    #[checkpoint]
    Linear<4, 4, E, D>,
    #[checkpoint(keep)]
    Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
);

fn plain_96(m: &mut Case96<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = plain_19(&mut m.1, x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = m.3.try_forward_mut(x)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 2;
    pub struct Case97 {
        l0: builders::BatchNorm1D<4>,
        l1: builders::Linear<4, 4>,
        l2: nn::Dropout,
        l3: nn::Dropout,
        l4: nn::Dropout,
    }
}

fn plain_97(m: &mut Built<Case97>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case98<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: BatchNorm1D<4, E, D>,
    #[checkpoint]
    f1: BatchNorm1D<4, E, D>,
}

fn plain_98(m: &mut Case98<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case99<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: (Linear<4, 4, E, D>, ReLU),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case99<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let (v2, v3) = {
            let v1 = self.f0.forward(v0);
            let v2 = self.f0.forward(v1);
            let v3 = self.f2.forward(v2);
            (v2, v3)
        };
        #[checkpoint]
        let v4 = v0 + self.f1.forward(v2.square());
        let v5 = v3 + self.f1.forward(v0.square());
        #[checkpoint(plain)]
        let v8 = {
            #[checkpoint(plain)]
            let v6 = v5 + self.p.clone().relu().broadcast_like(v5.shape());
            #[checkpoint]
            let v8 = {
                let v7 = v6 + v4;
                let v8 = v7 * self.p.clone().broadcast_like(v7.shape());
                v8
            };
            v8
        };
        v8
    }
}

fn plain_99(m: &mut Case99<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = m.f0.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let (v3, t) = m.f2.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let n = v2.clone().put_tape(t).try_square()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v4, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    let n = v0.clone().put_tape(t).try_square()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v5, t) = v3.clone().put_tape(t).try_add(n)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_add(p.broadcast_like(v5.shape()))?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_add(v4.clone())?.split_tape();
    let p = m.p.clone();
    let (v8, t) = v7.clone().put_tape(t).try_mul(p.broadcast_like(v7.shape()))?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case100<E: Dtype, D: Device<E>>(
    #[checkpoint(keep)]
    (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint]
    Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[checkpoint(verify)]
    Case61<E, D>,
);

fn plain_100(m: &mut Case100<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = plain_61(&mut m.2, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case101<E: Dtype, D: Device<E>> {
    f0: Case33<E, D>,
    f1: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case101<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(keep)]
        let (v1, v2) = {
            #[checkpoint]
            let v1 = self.f1.forward(v0);
            let v2 = v1.sigmoid();
            (v1, v2)
        };
        let v3 = self.f0.forward(v2);
        let v4 = self.f1.forward(v3);
        let v5 = self.helper(v4);
        #[checkpoint(name = "part")]
        let v7 = {
            #[checkpoint]
            let v7 = {
                let v6 = v0.tanh();
                let v7 = v1 - self.f0.forward(v6.tanh());
                v7
            };
            v7
        };
        v7
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_101(m: &mut Case101<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v3, t) = plain_33(&mut m.f0, v2.clone().put_tape(t))?.split_tape();
    let (v4, t) = m.f1.try_forward_mut(v3.clone().put_tape(t))?.split_tape();
    let s = v4.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(s)?.split_tape();
    let (v6, t) = v0.clone().put_tape(t).try_tanh()?.split_tape();
    let n = v6.clone().put_tape(t).try_tanh()?;
    let (n, t) = plain_33(&mut m.f0, n)?.split_tape();
    let (v7, t) = v1.clone().put_tape(t).try_sub(n)?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case102<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case102<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let (v1, v2) = {
            let mut v1 = v0;
            for block in &self.f1 {
                v1 = block.forward(v1);
            }
            #[checkpoint]
            let v2 = {
                let v2 = v1 * E::from_f64(0.75).unwrap();
                let v3 = v1 * self.f0.forward(v1.sigmoid());
                v2
            };
            (v1, v2)
        };
        #[checkpoint(keep)]
        let v5 = {
            let v4 = v2 - v1;
            #[checkpoint(name = "part")]
            let v5 = v4 + self.f2.forward(v4.square());
            v5
        };
        v5
    }
}

fn plain_102(m: &mut Case102<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v1, t) = y.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let n = v1.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v3, t) = v1.clone().put_tape(t).try_mul(n)?.split_tape();
    let (v4, t) = v2.clone().put_tape(t).try_sub(v1.clone())?.split_tape();
    let n = v4.clone().put_tape(t).try_square()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(n)?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case103<E: Dtype, D: Device<E>>(
    Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    BatchNorm1D<4, E, D>,
    #[checkpoint]
    Linear<4, 4, E, D>,
    #[checkpoint]
    Linear<4, 4, E, D>,
);

fn plain_103(m: &mut Case103<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = m.3.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 5;
    pub struct Case104 {
        l0: builders::BatchNorm1D<4>,
        l1: Sigmoid,
        l2: nn::Dropout,
        l3: builders::Linear<4, 4>,
        l4: Sigmoid,
    }
}

fn plain_104(m: &mut Built<Case104>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case105<E: Dtype, D: Device<E>>(
    #[checkpoint(plain)]
    Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(segments = 3)]
    Repeated<Case61<E, D>, 3>,
    #[checkpoint(each, name = "named")]
    (Linear<4, 4, E, D>, ReLU),
);

fn plain_105(m: &mut Case105<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = many(&mut m.1, x, plain_61)?;
    let x = m.2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case106<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: Linear<4, 4, E, D>,
    f2: Case58<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case106<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(plain)]
        let v1 = self.f1.forward(v0.sin()) + v0;
        let v2 = v1.cos();
        let v3 = self.f1.forward(v2.sigmoid()) - v0;
        v3
    }
}

fn plain_106(m: &mut Case106<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sin()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v1, t) = n.put_tape(t).try_add(v0.clone())?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let n = v2.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v3, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case107<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 1)]
    f0: Repeated<Case98<E, D>, 3>,
    f1: Repeated<Case58<E, D>, 3>,
    #[checkpoint(segments = 1)]
    f2: (Linear<4, 4, E, D>, ReLU),
}

fn plain_107(m: &mut Case107<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.f0, x, plain_98)?;
    let x = many(&mut m.f1, x, plain_58)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case108<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case108<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(keep)]
        let v3 = {
            let v1 = v0.try_tanh()?;
            let v2 = self.f1.try_forward(v1.try_cos()?)? + v0;
            let v3 = v0 + v2;
            v3
        };
        #[checkpoint]
        let v4 = self.f0.try_forward(v3.try_sin()?)? - v0;
        Ok(v4)
    }
}

fn plain_108(m: &mut Case108<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_tanh()?.split_tape();
    let n = v1.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v2, t) = n.put_tape(t).try_add(v0.clone())?.split_tape();
    let (v3, t) = v0.clone().put_tape(t).try_add(v2.clone())?.split_tape();
    let n = v3.clone().put_tape(t).try_sin()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case109<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Case40<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case109<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = v0.try_relu()?;
        let v2 = v1.try_cos()?;
        #[checkpoint(name = "part")]
        let v5 = {
            #[checkpoint(verify)]
            let v4 = {
                let v3 = v0 * E::from_f64(0.75).unwrap();
                let v4 = v3.try_cos()?;
                v4
            };
            #[checkpoint]
            let v5 = v4.try_cos()?;
            v5
        };
        #[checkpoint(plain)]
        let v7 = {
            let v6 = v5 + self.p.clone().tanh().broadcast_like(v5.shape());
            let v7 = v0 + self.f1.try_forward(v6.try_sigmoid()?)?;
            v7
        };
        Ok(v7)
    }
}

fn plain_109(m: &mut Case109<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_relu()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let (v3, t) = v0.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_cos()?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_cos()?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_tanh()?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_add(p.broadcast_like(v5.shape()))?.split_tape();
    let n = v6.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = plain_40(&mut m.f1, n)?.split_tape();
    let (v7, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case110<E: Dtype, D: Device<E>> {
    #[checkpoint(each)]
    f0: Repeated<Case0<E, D>, 3>,
    #[checkpoint(plain)]
    f1: Case54<E, D>,
    #[checkpoint(plain)]
    f2: Linear<4, 4, E, D>,
    #[policy]
    policy: Policy,
}

fn plain_110(m: &mut Case110<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.f0, x, plain_0)?;
    let x = plain_54(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 3;
    pub struct Case111 {
        l0: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l1: builders::BatchNorm1D<4>,
        l2: builders::Linear<4, 4>,
        l3: builders::Linear<4, 4>,
        l4: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l5: builders::Linear<4, 4>,
        l6: builders::Linear<4, 4>,
        l7: builders::Linear<4, 4>,
        l8: builders::BatchNorm1D<4>,
        l9: Tanh,
    }
}

fn plain_111(m: &mut Built<Case111>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    let x = m.l6.try_forward_mut(x)?;
    let x = m.l7.try_forward_mut(x)?;
    let x = m.l8.try_forward_mut(x)?;
    let x = m.l9.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case112<E: Dtype, D: Device<E>> {
    f0: Case103<E, D>,
    #[checkpoint]
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
}

fn plain_112(m: &mut Case112<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_103(&mut m.f0, x)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case113<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f2: (Linear<4, 4, E, D>, ReLU),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case113<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = self.helper(v0);
        let v2 = self.f2.forward(v0);
        let v3 = if self.gate > 0.5 { self.f1.forward(v2) } else { v2.relu() };
        #[checkpoint(plain)]
        let v4 = self.f2.forward(v3);
        v4
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f2.forward(x.sin());
        x + y
    }
}

fn plain_113(m: &mut Case113<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let s = v0.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f2.try_forward_mut(s)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(s)?.split_tape();
    let (v2, t) = m.f2.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_relu()? };
    let (v3, t) = y.split_tape();
    let (v4, t) = m.f2.try_forward_mut(v3.clone().put_tape(t))?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case114<E: Dtype, D: Device<E>> {
    f0: Case112<E, D>,
    #[checkpoint]
    f1: Case19<E, D>,
    #[checkpoint]
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    f3: Case112<E, D>,
}

fn plain_114(m: &mut Case114<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_112(&mut m.f0, x)?;
    let x = plain_19(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = plain_112(&mut m.f3, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case115<E: Dtype, D: Device<E>> {
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case115<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = if self.gate > 0.5 { self.f1.forward(v0) } else { v0.cos() };
        #[checkpoint(verify)]
        let v3 = {
            #[checkpoint(keep)]
            let v3 = {
                let v2 = self.helper(v1);
                let v3 = if self.gate > 0.5 { self.f1.forward(v2) } else { v2.cos() };
                v3
            };
            v3
        };
        let v4 = self.f0.forward(v1.relu()) + v3;
        #[checkpoint(keep)]
        let v7 = {
            let v5 = self.f1.forward(v4);
            let mut v6 = v0;
            #[checkpoint]
            for block in &self.f0 {
                v6 = block.forward(v6) + v0;
            }
            let mut v7 = v6;
            #[checkpoint]
            for block in &self.f0 {
                v7 = block.forward(v7);
            }
            v7
        };
        v7
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_115(m: &mut Case115<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_cos()? };
    let (v1, t) = y.split_tape();
    let s = v1.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(s)?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_cos()? };
    let (v3, t) = y.split_tape();
    let n = v1.clone().put_tape(t).try_relu()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_add(v3.clone())?.split_tape();
    let (v5, t) = m.f1.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f0.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v0.clone())?;
    }
    let (v6, t) = y.split_tape();
    let mut y = v6.clone().put_tape(t);
    for block in &mut m.f0.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v7, t) = y.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case116<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case116<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let v1 = self.helper(v0);
        let v2 = v1 + self.p.clone().sigmoid().broadcast_like(v1.shape());
        let v3 = if self.gate > 0.5 { self.f1.forward(v0) } else { v0.sigmoid() };
        #[checkpoint(verify)]
        let v5 = {
            let v4 = self.f0.try_forward(v0)?;
            #[checkpoint(name = "part")]
            let v5 = v4.try_cos()?;
            v5
        };
        #[checkpoint]
        let v7 = {
            let v6 = v5.try_tanh()?;
            let mut v7 = v1;
            #[checkpoint]
            for block in &self.f1 {
                v7 = block.forward(v7);
            }
            v7
        };
        Ok(v7)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f0.forward(x.sin());
        x + y
    }
}

fn plain_116(m: &mut Case116<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let s = v0.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f0.try_forward_mut(s)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(s)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(p.broadcast_like(v1.shape()))?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_sigmoid()? };
    let (v3, t) = y.split_tape();
    let (v4, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_cos()?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_tanh()?.split_tape();
    let mut y = v1.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v7, t) = y.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case117<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint]
    f1: Case103<E, D>,
    #[checkpoint(keep)]
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(verify)]
    f3: Linear<4, 4, E, D>,
}

fn plain_117(m: &mut Case117<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_103(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

pub type Case118 = checkpoint_sequential!(
    segments = 1,
    (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
    builders::LayerNorm1D<4>,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    Sigmoid,
);

fn plain_118(m: &mut Built<Case118>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case119<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(plain)]
    f2: (Linear<4, 4, E, D>, ReLU),
    f3: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint]
    f4: Linear<4, 4, E, D>,
    #[policy]
    policy: Policy,
}

fn plain_119(m: &mut Case119<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case120<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: Linear<4, 4, E, D>,
    f2: (Linear<4, 4, E, D>, ReLU),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case120<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let v1 = v0.try_square()?;
        let v2 = if self.gate > 0.5 { self.f1.forward(v1) } else { v1.square() };
        let v3 = self.f1.try_forward(v2)?;
        #[checkpoint]
        let v4 = v2 - self.p.clone().tanh().broadcast_like(v2.shape());
        Ok(v4)
    }
}

fn plain_120(m: &mut Case120<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_square()?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v1.clone().put_tape(t))? } else { v1.clone().put_tape(t).try_square()? };
    let (v2, t) = y.split_tape();
    let (v3, t) = m.f1.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_tanh()?.split_tape();
    let (v4, t) = v2.clone().put_tape(t).try_sub(p.broadcast_like(v2.shape()))?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case121<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: Linear<4, 4, E, D>,
    #[checkpoint]
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f2: Case19<E, D>,
}

fn plain_121(m: &mut Case121<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = plain_19(&mut m.f2, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case122<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: LayerNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case122<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(verify)]
        let (v1, v2) = {
            let v1 = v0.try_tanh()?;
            #[checkpoint]
            let v2 = self.f1.try_forward(v1)?;
            (v1, v2)
        };
        #[checkpoint(verify)]
        let v4 = {
            #[checkpoint]
            let v4 = {
                let v3 = self.f0.try_forward(v2)?;
                let v4 = v3 + self.p.clone().broadcast_like(v3.shape());
                v4
            };
            v4
        };
        let v5 = if self.gate > 0.5 { self.f1.forward(v4) } else { v4.tanh() };
        let v6 = v1 * E::from_f64(0.75).unwrap();
        #[checkpoint(keep)]
        let v7 = v6.try_square()?;
        Ok(v7)
    }
}

fn plain_122(m: &mut Case122<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_tanh()?.split_tape();
    let (v2, t) = m.f1.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let (v3, t) = m.f0.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let p = m.p.clone();
    let (v4, t) = v3.clone().put_tape(t).try_add(p.broadcast_like(v3.shape()))?.split_tape();
    let y = if m.gate > 0.5 { m.f1.try_forward_mut(v4.clone().put_tape(t))? } else { v4.clone().put_tape(t).try_tanh()? };
    let (v5, t) = y.split_tape();
    let (v6, t) = v1.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_square()?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case123<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case123<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0.sigmoid();
        #[checkpoint(verify)]
        let v4 = {
            let v2 = self.f2.forward(v1);
            let v3 = self.f0.forward(v2);
            let v4 = v1.cos();
            v4
        };
        let v5 = if self.gate > 0.5 { self.f2.forward(v4) } else { v4.sigmoid() };
        #[checkpoint(verify)]
        let v7 = {
            let v6 = v5.square();
            #[checkpoint(plain)]
            let v7 = v6 + v5;
            v7
        };
        v7
    }
}

fn plain_123(m: &mut Case123<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v2, t) = m.f2.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let (v3, t) = m.f0.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let (v4, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let y = if m.gate > 0.5 { m.f2.try_forward_mut(v4.clone().put_tape(t))? } else { v4.clone().put_tape(t).try_sigmoid()? };
    let (v5, t) = y.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_square()?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_add(v5.clone())?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case124<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(verify)]
    f1: Linear<4, 4, E, D>,
    f2: Repeated<Case121<E, D>, 3>,
    #[checkpoint]
    f3: LayerNorm1D<4, E, D>,
}

fn plain_124(m: &mut Case124<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = many(&mut m.f2, x, plain_121)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 7;
    pub struct Case125 {
        l0: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l1: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l2: Residual<(builders::Linear<4, 4>, Tanh)>,
        l3: Residual<(builders::Linear<4, 4>, Tanh)>,
        l4: Residual<(builders::Linear<4, 4>, Tanh)>,
        l5: builders::Linear<4, 4>,
        l6: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l7: nn::Dropout,
        l8: builders::LayerNorm1D<4>,
    }
}

fn plain_125(m: &mut Built<Case125>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    let x = m.l6.try_forward_mut(x)?;
    let x = m.l7.try_forward_mut(x)?;
    let x = m.l8.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case126<E: Dtype, D: Device<E>>(
    #[checkpoint(each)]
    (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(verify)]
    Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    BatchNorm1D<4, E, D>,
    #[checkpoint(segments = 1)]
    (Linear<4, 4, E, D>, ReLU),
);

fn plain_126(m: &mut Case126<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = m.3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case127<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: Repeated<Case61<E, D>, 3>,
    f3: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case127<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 * E::from_f64(0.75).unwrap();
        #[checkpoint(plain)]
        let v3 = {
            #[checkpoint(name = "part")]
            let v3 = {
                let mut v2 = v0;
                #[checkpoint(each)]
                for block in &self.f2 {
                    v2 = block.forward(v2) + v0;
                }
                let v3 = self.helper(v2);
                v3
            };
            v3
        };
        v3
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f2.forward(x.sin());
        x + y
    }
}

fn plain_127(m: &mut Case127<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f2.modules {
        y = plain_61(block, y)?;
        y = y.try_add(v0.clone())?;
    }
    let (v2, t) = y.split_tape();
    let s = v2.clone().put_tape(t).try_sin()?;
    let (s, t) = many(&mut m.f2, s, plain_61)?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(s)?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case128<E: Dtype, D: Device<E>>(
    #[checkpoint(each, verify)]
    Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[checkpoint(each)]
    (Linear<4, 4, E, D>, ReLU),
);

fn plain_128(m: &mut Case128<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case129<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case129<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(plain)]
        let v3 = {
            #[checkpoint(verify)]
            let v2 = {
                let mut v1 = v0;
                #[checkpoint(each)]
                for block in &self.f1 {
                    v1 = block.forward(v1);
                }
                let v2 = v1 - self.f0.forward(v1.relu());
                v2
            };
            #[checkpoint(name = "part")]
            let v3 = v2 * self.p.clone().broadcast_like(v2.shape());
            v3
        };
        let v4 = v3 + self.p.clone().broadcast_like(v3.shape());
        let mut v5 = v4;
        #[checkpoint]
        for block in &self.f1 {
            v5 = block.forward(v5) + v4;
        }
        v5
    }
}

fn plain_129(m: &mut Case129<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v1, t) = y.split_tape();
    let n = v1.clone().put_tape(t).try_relu()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sub(n)?.split_tape();
    let p = m.p.clone();
    let (v3, t) = v2.clone().put_tape(t).try_mul(p.broadcast_like(v2.shape()))?.split_tape();
    let p = m.p.clone();
    let (v4, t) = v3.clone().put_tape(t).try_add(p.broadcast_like(v3.shape()))?.split_tape();
    let mut y = v4.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v4.clone())?;
    }
    let (v5, t) = y.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case130<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case130<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let (v1, v2) = {
            #[checkpoint(verify)]
            let (v1, v2) = {
                let v1 = v0 * E::from_f64(0.75).unwrap();
                let v2 = self.f1.try_forward(v0)?;
                (v1, v2)
            };
            (v1, v2)
        };
        #[checkpoint(name = "part")]
        let v3 = v2 - v1;
        Ok(v3)
    }
}

fn plain_130(m: &mut Case130<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v2, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_sub(v1.clone())?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case131<E: Dtype, D: Device<E>> {
    #[checkpoint(keep)]
    f0: LayerNorm1D<4, E, D>,
    #[checkpoint]
    f1: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(name = "named")]
    f2: LayerNorm1D<4, E, D>,
    #[checkpoint]
    f3: Case112<E, D>,
}

fn plain_131(m: &mut Case131<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = plain_112(&mut m.f3, x)?;
    Ok(x)
}

pub type Case132 = checkpoint_sequential!(
    each,
    nn::Dropout,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
    (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
    builders::Linear<4, 4>,
    builders::LayerNorm1D<4>,
    builders::BatchNorm1D<4>,
);

fn plain_132(m: &mut Built<Case132>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    let x = m.0.7.try_forward_mut(x)?;
    let x = m.0.8.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case133<E: Dtype, D: Device<E>> {
    #[checkpoint(keep)]
    f0: BatchNorm1D<4, E, D>,
    #[checkpoint(verify, name = "named")]
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(segments = 2, name = "named")]
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(segments = 2, verify)]
    f3: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(segments = 1, verify)]
    f4: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
}

fn plain_133(m: &mut Case133<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case134<E: Dtype, D: Device<E>> {
    f0: LayerNorm1D<4, E, D>,
    f1: Repeated<Case82<E, D>, 3>,
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case134<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 + self.f1.forward(v0.sin());
        let v2 = v1.relu();
        #[checkpoint(name = "part")]
        let v4 = {
            #[checkpoint(name = "part")]
            let v4 = {
                let v3 = self.f0.forward(v0);
                let v4 = v3 - v0;
                v4
            };
            v4
        };
        #[checkpoint(name = "part")]
        let v6 = {
            let v5 = self.f2.forward(v4);
            #[checkpoint]
            let v6 = {
                let mut v6 = v5;
                #[checkpoint(each)]
                for block in &self.f1 {
                    v6 = block.forward(v6);
                }
                v6
            };
            v6
        };
        v6
    }
}

fn plain_134(m: &mut Case134<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sin()?;
    let (n, t) = many(&mut m.f1, n, plain_82)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_relu()?.split_tape();
    let (v3, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_sub(v0.clone())?.split_tape();
    let (v5, t) = m.f2.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    let mut y = v5.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = plain_82(block, y)?;
    }
    let (v6, t) = y.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case135<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Linear<4, 4, E, D>,
    #[checkpoint]
    f2: Linear<4, 4, E, D>,
    #[checkpoint(segments = 1)]
    f3: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(segments = 2, verify)]
    f4: Repeated<Case40<E, D>, 2>,
}

fn plain_135(m: &mut Case135<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = many(&mut m.f4, x, plain_40)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case136<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case136<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0.sin();
        #[checkpoint]
        let v4 = {
            #[checkpoint(verify)]
            let v2 = if self.gate > 0.5 { self.f0.forward(v1) } else { v1.tanh() };
            #[checkpoint]
            let v4 = {
                let v3 = v2 * v1;
                let v4 = v3 * self.p.clone().broadcast_like(v3.shape());
                v4
            };
            v4
        };
        #[checkpoint(name = "part")]
        let v6 = {
            #[checkpoint(plain)]
            let v6 = {
                let v5 = self.f0.forward(v4);
                let v6 = self.f0.forward(v5);
                v6
            };
            v6
        };
        v6
    }
}

fn plain_136(m: &mut Case136<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sin()?.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v1.clone().put_tape(t))? } else { v1.clone().put_tape(t).try_tanh()? };
    let (v2, t) = y.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_mul(v1.clone())?.split_tape();
    let p = m.p.clone();
    let (v4, t) = v3.clone().put_tape(t).try_mul(p.broadcast_like(v3.shape()))?.split_tape();
    let (v5, t) = m.f0.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    let (v6, t) = m.f0.try_forward_mut(v5.clone().put_tape(t))?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case137<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    f1: Repeated<Case58<E, D>, 2>,
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case137<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let (v1, v2) = {
            #[checkpoint(plain)]
            let (v1, v2) = {
                let v1 = v0 + self.f1.forward(v0.cos());
                let v2 = self.f1.forward(v1.square()) - v0;
                (v1, v2)
            };
            let v3 = self.helper(v1);
            (v1, v2)
        };
        let v4 = v2 + v0;
        #[checkpoint(verify)]
        let v6 = {
            #[checkpoint(name = "part")]
            let v6 = {
                let mut v5 = v4;
                for block in &self.f1 {
                    v5 = block.forward(v5);
                }
                let v6 = v5 - v1;
                v6
            };
            v6
        };
        #[checkpoint(keep)]
        let v7 = self.f0.forward(v6);
        v7
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_137(m: &mut Case137<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_cos()?;
    let (n, t) = many(&mut m.f1, n, plain_58)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    let n = v1.clone().put_tape(t).try_square()?;
    let (n, t) = many(&mut m.f1, n, plain_58)?.split_tape();
    let (v2, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    let s = v1.clone().put_tape(t).try_sin()?;
    let (s, t) = many(&mut m.f1, s, plain_58)?.split_tape();
    let (v3, t) = v1.clone().put_tape(t).try_add(s)?.split_tape();
    let (v4, t) = v2.clone().put_tape(t).try_add(v0.clone())?.split_tape();
    let mut y = v4.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = plain_58(block, y)?;
    }
    let (v5, t) = y.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_sub(v1.clone())?.split_tape();
    let (v7, t) = m.f0.try_forward_mut(v6.clone().put_tape(t))?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case138<E: Dtype, D: Device<E>>(
    (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(verify)]
    Case121<E, D>,
);

fn plain_138(m: &mut Case138<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = plain_121(&mut m.1, x)?;
    Ok(x)
}

pub type Case139 = checkpoint_sequential!(
    each,
    Sigmoid,
    builders::BatchNorm1D<4>,
    Sigmoid,
    (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
    builders::BatchNorm1D<4>,
    nn::Dropout,
);

fn plain_139(m: &mut Built<Case139>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case140<E: Dtype, D: Device<E>> {
    #[checkpoint(each, verify)]
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[checkpoint(each, name = "named")]
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[checkpoint(keep)]
    f2: Linear<4, 4, E, D>,
    #[checkpoint(each)]
    f3: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
}

fn plain_140(m: &mut Case140<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case141<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: Case0<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case141<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = v0 - self.f1.try_forward(v0.try_sigmoid()?)?;
        #[checkpoint]
        let (v2, v3) = {
            #[checkpoint(name = "part")]
            let (v2, v3) = {
                let v2 = v1.try_sin()?;
                let v3 = if self.gate > 0.5 { self.f0.forward(v2) } else { v2.square() };
                (v2, v3)
            };
            (v2, v3)
        };
        #[checkpoint(keep)]
        let v4 = {
            #[checkpoint(name = "part")]
            let v4 = {
                let v4 = self.f1.try_forward(v3.try_square()?)? - v0;
                let v5 = self.f0.try_forward(v2)?;
                v4
            };
            v4
        };
        #[checkpoint]
        let v7 = {
            #[checkpoint]
            let v7 = {
                let v6 = v4.try_sigmoid()?;
                let v7 = self.f1.try_forward(v6)?;
                v7
            };
            v7
        };
        Ok(v7)
    }
}

fn plain_141(m: &mut Case141<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = plain_0(&mut m.f1, n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sub(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sin()?.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_square()? };
    let (v3, t) = y.split_tape();
    let n = v3.clone().put_tape(t).try_square()?;
    let (n, t) = plain_0(&mut m.f1, n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    let (v5, t) = m.f0.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let (v6, t) = v4.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v7, t) = plain_0(&mut m.f1, v6.clone().put_tape(t))?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case142<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(name = "named")]
    f1: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(verify)]
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(each)]
    f3: (Linear<4, 4, E, D>, ReLU),
}

fn plain_142(m: &mut Case142<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case143<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: Case65<E, D>,
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case143<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(plain)]
        let (v1, v2, v3) = {
            #[checkpoint]
            let (v1, v2, v3) = {
                let v1 = self.f0.try_forward(v0)?;
                let v2 = v1.try_cos()?;
                let v3 = self.f0.try_forward(v2)?;
                (v1, v2, v3)
            };
            (v1, v2, v3)
        };
        let v4 = v1 - self.f1.try_forward(v3.try_square()?)?;
        #[checkpoint(name = "part")]
        let v5 = if self.gate > 0.5 { self.f2.forward(v2) } else { v2.tanh() };
        let v6 = v5 + v2;
        Ok(v6)
    }
}

fn plain_143(m: &mut Case143<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let (v3, t) = m.f0.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let n = v3.clone().put_tape(t).try_square()?;
    let (n, t) = plain_65(&mut m.f1, n)?.split_tape();
    let (v4, t) = v1.clone().put_tape(t).try_sub(n)?.split_tape();
    let y = if m.gate > 0.5 { m.f2.try_forward_mut(v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_tanh()? };
    let (v5, t) = y.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_add(v2.clone())?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case144<E: Dtype, D: Device<E>> {
    f0: Repeated<Case82<E, D>, 3>,
    f1: (Linear<4, 4, E, D>, ReLU),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case144<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let mut v1 = v0;
        #[checkpoint(segments = 2)]
        for block in &self.f0 {
            v1 = block.forward(v1) + v0;
        }
        #[checkpoint]
        let (v2, v4) = {
            #[checkpoint]
            let v2 = v1 + self.f1.forward(v0.cos());
            let v3 = v0 + self.f0.forward(v1.relu());
            #[checkpoint(name = "part")]
            let v4 = v3 + self.p.clone().relu().broadcast_like(v3.shape());
            (v2, v4)
        };
        #[checkpoint(name = "part")]
        let v5 = self.helper(v4);
        let v6 = v5 - v4;
        let v7 = v2 - v1;
        v7
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_144(m: &mut Case144<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f0.modules {
        y = plain_82(block, y)?;
        y = y.try_add(v0.clone())?;
    }
    let (v1, t) = y.split_tape();
    let n = v0.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(n)?.split_tape();
    let n = v1.clone().put_tape(t).try_relu()?;
    let (n, t) = many(&mut m.f0, n, plain_82)?.split_tape();
    let (v3, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_add(p.broadcast_like(v3.shape()))?.split_tape();
    let s = v4.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f1.try_forward_mut(s)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(s)?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_sub(v4.clone())?.split_tape();
    let (v7, t) = v2.clone().put_tape(t).try_sub(v1.clone())?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case145<E: Dtype, D: Device<E>>(
    #[checkpoint(name = "named")]
    Linear<4, 4, E, D>,
    #[checkpoint(verify)]
    Case33<E, D>,
    #[checkpoint(each, name = "named")]
    Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
);

fn plain_145(m: &mut Case145<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = plain_33(&mut m.1, x)?;
    let x = m.2.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 5;
    pub struct Case146 {
        l0: builders::Linear<4, 4>,
        l1: Sigmoid,
        l2: builders::Linear<4, 4>,
        l3: nn::Dropout,
        l4: builders::Linear<4, 4>,
        l5: builders::BatchNorm1D<4>,
    }
}

fn plain_146(m: &mut Built<Case146>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case147<E: Dtype, D: Device<E>>(
    #[checkpoint]
    Case108<E, D>,
    #[checkpoint]
    Case33<E, D>,
    (Linear<4, 4, E, D>, ReLU),
);

fn plain_147(m: &mut Case147<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_108(&mut m.0, x)?;
    let x = plain_33(&mut m.1, x)?;
    let x = m.2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case148<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f1: Case126<E, D>,
    f2: Linear<4, 4, E, D>,
    f3: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case148<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(verify)]
        let (v1, v3) = {
            let v1 = self.f2.try_forward(v0)?;
            #[checkpoint]
            let v3 = {
                let v2 = v1 + v0;
                let mut v3 = v2;
                #[checkpoint]
                for block in &self.f3 {
                    v3 = block.forward(v3) + v2;
                }
                v3
            };
            (v1, v3)
        };
        #[checkpoint]
        let v4 = self.f1.try_forward(v3.try_cos()?)? + v3;
        let v5 = v4.try_tanh()?;
        let v6 = v1.try_cos()?;
        let v7 = v6 * E::from_f64(0.75).unwrap();
        let v8 = v1 * self.f1.try_forward(v7.try_square()?)?;
        Ok(v8)
    }
}

fn plain_148(m: &mut Case148<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f2.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(v0.clone())?.split_tape();
    let mut y = v2.clone().put_tape(t);
    for block in &mut m.f3.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v2.clone())?;
    }
    let (v3, t) = y.split_tape();
    let n = v3.clone().put_tape(t).try_cos()?;
    let (n, t) = plain_126(&mut m.f1, n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_add(v3.clone())?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_tanh()?.split_tape();
    let (v6, t) = v1.clone().put_tape(t).try_cos()?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let n = v7.clone().put_tape(t).try_square()?;
    let (n, t) = plain_126(&mut m.f1, n)?.split_tape();
    let (v8, t) = v1.clone().put_tape(t).try_mul(n)?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case149<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    #[checkpoint(each)]
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(segments = 2, name = "named")]
    f2: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(verify)]
    f3: Case126<E, D>,
}

fn plain_149(m: &mut Case149<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = plain_126(&mut m.f3, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case150<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f1: BatchNorm1D<4, E, D>,
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case150<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(plain)]
        let v3 = {
            #[checkpoint(verify)]
            let v3 = {
                let v1 = self.f2.forward(v0.cos()) - v0;
                let v2 = self.f1.forward(v1.cos()) + v1;
                let mut v3 = v2;
                #[checkpoint(each)]
                for block in &self.f2 {
                    v3 = block.forward(v3) + v2;
                }
                v3
            };
            v3
        };
        let v4 = v3.relu();
        let v5 = self.f1.forward(v4);
        let v6 = v5 * E::from_f64(0.75).unwrap();
        v6
    }
}

fn plain_150(m: &mut Case150<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v1, t) = n.put_tape(t).try_sub(v0.clone())?.split_tape();
    let n = v1.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v2, t) = n.put_tape(t).try_add(v1.clone())?.split_tape();
    let mut y = v2.clone().put_tape(t);
    for block in &mut m.f2.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v2.clone())?;
    }
    let (v3, t) = y.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_relu()?.split_tape();
    let (v5, t) = m.f1.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_mul(0.75)?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case151<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case151<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = self.f0.forward(v0);
        #[checkpoint(verify)]
        let v3 = {
            let v2 = v1 * E::from_f64(0.75).unwrap();
            let v3 = v2.sin();
            v3
        };
        let v4 = self.f0.forward(v3.relu()) + v3;
        v4
    }
}

fn plain_151(m: &mut Case151<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_sin()?.split_tape();
    let n = v3.clone().put_tape(t).try_relu()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_add(v3.clone())?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case152<E: Dtype, D: Device<E>>(
    #[checkpoint(verify)]
    Linear<4, 4, E, D>,
    #[checkpoint]
    Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(segments = 2)]
    Repeated<Case5<E, D>, 3>,
    #[checkpoint(segments = 2)]
    Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(verify)]
    Case82<E, D>,
);

fn plain_152(m: &mut Case152<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = many(&mut m.2, x, plain_5)?;
    let x = m.3.try_forward_mut(x)?;
    let x = plain_82(&mut m.4, x)?;
    Ok(x)
}

checkpoint_sequential! {
    each;
    pub struct Case153 {
        l0: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l1: builders::Linear<4, 4>,
        l2: Sigmoid,
        l3: Residual<(builders::Linear<4, 4>, Tanh)>,
        l4: builders::LayerNorm1D<4>,
        l5: builders::Linear<4, 4>,
        l6: Residual<(builders::Linear<4, 4>, Tanh)>,
        l7: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l8: builders::Linear<4, 4>,
    }
}

fn plain_153(m: &mut Built<Case153>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    let x = m.l6.try_forward_mut(x)?;
    let x = m.l7.try_forward_mut(x)?;
    let x = m.l8.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case154<E: Dtype, D: Device<E>> {
    #[checkpoint(keep)]
    f0: Case61<E, D>,
    #[checkpoint(segments = 1)]
    f1: Repeated<Case40<E, D>, 3>,
    #[checkpoint(verify)]
    f2: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint]
    f3: Case58<E, D>,
    #[policy]
    policy: Policy,
}

fn plain_154(m: &mut Case154<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_61(&mut m.f0, x)?;
    let x = many(&mut m.f1, x, plain_40)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = plain_58(&mut m.f3, x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case155<E: Dtype, D: Device<E>> {
    f0: Case40<E, D>,
    f1: Repeated<Case61<E, D>, 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case155<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let v2 = {
            let v1 = v0 * self.f0.try_forward(v0.try_tanh()?)?;
            let v2 = self.helper(v0);
            v2
        };
        let v3 = self.f0.try_forward(v2)?;
        Ok(v3)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_155(m: &mut Case155<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_tanh()?;
    let (n, t) = plain_40(&mut m.f0, n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(n)?.split_tape();
    let s = v0.clone().put_tape(t).try_sin()?;
    let (s, t) = many(&mut m.f1, s, plain_61)?.split_tape();
    let (v2, t) = v0.clone().put_tape(t).try_add(s)?.split_tape();
    let (v3, t) = plain_40(&mut m.f0, v2.clone().put_tape(t))?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case156<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Case9<E, D>,
    #[checkpoint(verify)]
    f1: Linear<4, 4, E, D>,
    #[checkpoint(each)]
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(verify)]
    f3: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(segments = 3, verify)]
    f4: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
}

fn plain_156(m: &mut Case156<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_9(&mut m.f0, x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case157<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    f1: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case157<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0.cos();
        #[checkpoint(verify)]
        let v3 = {
            let v2 = self.f0.forward(v1);
            #[checkpoint]
            let v3 = {
                let v3 = v2 + self.p.clone().square().broadcast_like(v2.shape());
                let v4 = self.f1.forward(v3.tanh()) * v1;
                v3
            };
            v3
        };
        #[checkpoint(plain)]
        let v5 = self.f0.forward(v3.relu()) * v0;
        v5
    }
}

fn plain_157(m: &mut Case157<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_cos()?.split_tape();
    let (v2, t) = m.f0.try_forward_mut(v1.clone().put_tape(t))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_square()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(p.broadcast_like(v2.shape()))?.split_tape();
    let n = v3.clone().put_tape(t).try_tanh()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_mul(v1.clone())?.split_tape();
    let n = v3.clone().put_tape(t).try_relu()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v5, t) = n.put_tape(t).try_mul(v0.clone())?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case158<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    f1: Linear<4, 4, E, D>,
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f3: Repeated<Case82<E, D>, 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case158<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let (v1, v2) = {
            let v1 = if self.gate > 0.5 { self.f0.forward(v0) } else { v0.sin() };
            #[checkpoint]
            let v2 = {
                let mut v2 = v1;
                for block in &self.f2 {
                    v2 = block.forward(v2);
                }
                v2
            };
            (v1, v2)
        };
        let v3 = v2 * self.p.clone().square().broadcast_like(v2.shape());
        #[checkpoint]
        let v5 = {
            #[checkpoint(verify)]
            let v5 = {
                let v4 = self.f2.forward(v1.relu()) - v2;
                let v5 = v4 * E::from_f64(0.75).unwrap();
                v5
            };
            v5
        };
        v5
    }
}

fn plain_158(m: &mut Case158<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_sin()? };
    let (v1, t) = y.split_tape();
    let mut y = v1.clone().put_tape(t);
    for block in &mut m.f2.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v2, t) = y.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_square()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_mul(p.broadcast_like(v2.shape()))?.split_tape();
    let n = v1.clone().put_tape(t).try_relu()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_sub(v2.clone())?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(0.75)?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case159<E: Dtype, D: Device<E>>(
    #[checkpoint]
    (Linear<4, 4, E, D>, ReLU),
    #[checkpoint]
    Linear<4, 4, E, D>,
    #[checkpoint(verify)]
    Case54<E, D>,
    #[checkpoint]
    Case0<E, D>,
    #[checkpoint]
    Case126<E, D>,
);

fn plain_159(m: &mut Case159<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = plain_54(&mut m.2, x)?;
    let x = plain_0(&mut m.3, x)?;
    let x = plain_126(&mut m.4, x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 8;
    pub struct Case160 {
        l0: nn::Dropout,
        l1: builders::LayerNorm1D<4>,
        l2: builders::Linear<4, 4>,
        l3: builders::LayerNorm1D<4>,
        l4: builders::BatchNorm1D<4>,
        l5: builders::LayerNorm1D<4>,
        l6: Sigmoid,
        l7: builders::LayerNorm1D<4>,
        l8: builders::Linear<4, 4>,
        l9: builders::Linear<4, 4>,
    }
}

fn plain_160(m: &mut Built<Case160>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    let x = m.l6.try_forward_mut(x)?;
    let x = m.l7.try_forward_mut(x)?;
    let x = m.l8.try_forward_mut(x)?;
    let x = m.l9.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case161<E: Dtype, D: Device<E>> {
    #[checkpoint(verify)]
    f0: BatchNorm1D<4, E, D>,
    #[checkpoint(each)]
    f1: Repeated<Case9<E, D>, 2>,
}

fn plain_161(m: &mut Case161<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = many(&mut m.f1, x, plain_9)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case162<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: BatchNorm1D<4, E, D>,
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f3: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case162<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0.sin();
        let v2 = v1 - self.f2.forward(v1.sigmoid());
        #[checkpoint]
        let v3 = self.f2.forward(v2.cos()) + v1;
        v3
    }
}

fn plain_162(m: &mut Case162<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sin()?.split_tape();
    let n = v1.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sub(n)?.split_tape();
    let n = v2.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v3, t) = n.put_tape(t).try_add(v1.clone())?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case163<E: Dtype, D: Device<E>> {
    #[checkpoint(name = "named")]
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(each, name = "named")]
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[checkpoint]
    f2: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(segments = 2, verify)]
    f3: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(verify)]
    f4: BatchNorm1D<4, E, D>,
}

fn plain_163(m: &mut Case163<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case164<E: Dtype, D: Device<E>> {
    f0: Case40<E, D>,
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f2: Case128<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case164<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0.relu();
        #[checkpoint(keep)]
        let v2 = v1.tanh();
        #[checkpoint(verify)]
        let v3 = v2.sin();
        v3
    }
}

fn plain_164(m: &mut Case164<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_relu()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_tanh()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_sin()?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case165<E: Dtype, D: Device<E>> {
    f0: Case157<E, D>,
    f1: BatchNorm1D<4, E, D>,
    f2: LayerNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case165<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = self.f0.forward(v0.sin()) + v0;
        let v2 = self.f0.forward(v1);
        #[checkpoint]
        let v5 = {
            #[checkpoint(plain)]
            let v4 = {
                let v3 = self.f2.forward(v0);
                let v4 = v3.square();
                v4
            };
            let v5 = self.f1.forward(v4);
            v5
        };
        v5
    }
}

fn plain_165(m: &mut Case165<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sin()?;
    let (n, t) = plain_157(&mut m.f0, n)?.split_tape();
    let (v1, t) = n.put_tape(t).try_add(v0.clone())?.split_tape();
    let (v2, t) = plain_157(&mut m.f0, v1.clone().put_tape(t))?.split_tape();
    let (v3, t) = m.f2.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_square()?.split_tape();
    let (v5, t) = m.f1.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case166<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint(each, name = "named")]
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(verify)]
    f3: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(keep)]
    f4: BatchNorm1D<4, E, D>,
}

fn plain_166(m: &mut Case166<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    let x = m.f4.try_forward_mut(x)?;
    Ok(x)
}

pub type Case167 = checkpoint_sequential!(
    segments = 1,
    builders::LayerNorm1D<4>,
    builders::LayerNorm1D<4>,
);

fn plain_167(m: &mut Built<Case167>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case168<E: Dtype, D: Device<E>>(
    #[checkpoint]
    Linear<4, 4, E, D>,
    #[checkpoint(verify)]
    Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    Repeated<Case108<E, D>, 2>,
    #[checkpoint(keep)]
    Repeated<Case0<E, D>, 2>,
    #[checkpoint(each)]
    (Linear<4, 4, E, D>, ReLU),
);

fn plain_168(m: &mut Case168<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = many(&mut m.2, x, plain_108)?;
    let x = many(&mut m.3, x, plain_0)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case169<E: Dtype, D: Device<E>> {
    f0: Repeated<Case65<E, D>, 3>,
    f1: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case169<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint(name = "part")]
        let v1 = self.f1.try_forward(v0)?;
        #[checkpoint]
        let (v2, v3) = {
            let v2 = self.f0.try_forward(v1.try_relu()?)? * v1;
            #[checkpoint]
            let v3 = v2 * E::from_f64(0.75).unwrap();
            (v2, v3)
        };
        #[checkpoint(keep)]
        let v6 = {
            let v4 = v3.try_tanh()?;
            #[checkpoint]
            let v6 = {
                let v5 = v4 * v2;
                let v6 = v5.try_cos()?;
                v6
            };
            v6
        };
        let mut v7 = v6;
        for block in &self.f0 {
            v7 = block.forward(v7) + v6;
        }
        Ok(v7)
    }
}

fn plain_169(m: &mut Case169<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let n = v1.clone().put_tape(t).try_relu()?;
    let (n, t) = many(&mut m.f0, n, plain_65)?.split_tape();
    let (v2, t) = n.put_tape(t).try_mul(v1.clone())?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_tanh()?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(v2.clone())?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_cos()?.split_tape();
    let mut y = v6.clone().put_tape(t);
    for block in &mut m.f0.modules {
        y = plain_65(block, y)?;
        y = y.try_add(v6.clone())?;
    }
    let (v7, t) = y.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case170<E: Dtype, D: Device<E>> {
    #[checkpoint(keep)]
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: BatchNorm1D<4, E, D>,
    #[checkpoint]
    f2: Case112<E, D>,
    f3: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
}

fn plain_170(m: &mut Case170<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = plain_112(&mut m.f2, x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case171<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: BatchNorm1D<4, E, D>,
    f2: BatchNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case171<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = self.f0.try_forward(v0)?;
        #[checkpoint]
        let v2 = v0 * v1;
        let v3 = v2.try_cos()?;
        Ok(v3)
    }
}

fn plain_171(m: &mut Case171<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = v0.clone().put_tape(t).try_mul(v1.clone())?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_cos()?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case172<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: Linear<4, 4, E, D>,
    f2: LayerNorm1D<4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case172<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v1 = v0 * E::from_f64(0.75).unwrap();
        #[checkpoint(name = "part")]
        let v2 = v1 + self.p.clone().sin().broadcast_like(v1.shape());
        let v3 = v2 * v0;
        #[checkpoint(plain)]
        let v4 = v3 + v2;
        #[checkpoint(plain)]
        let v6 = {
            let v5 = v4 * E::from_f64(0.75).unwrap();
            #[checkpoint]
            let v6 = v4 * E::from_f64(0.75).unwrap();
            v6
        };
        let v7 = self.f0.forward(v6);
        let v8 = self.f1.forward(v7.square()) - v3;
        v8
    }
}

fn plain_172(m: &mut Case172<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sin()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(p.broadcast_like(v1.shape()))?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_mul(v0.clone())?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_add(v2.clone())?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v6, t) = v4.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (v7, t) = m.f0.try_forward_mut(v6.clone().put_tape(t))?.split_tape();
    let n = v7.clone().put_tape(t).try_square()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v8, t) = n.put_tape(t).try_sub(v3.clone())?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case173<E: Dtype, D: Device<E>>(
    #[checkpoint(each)]
    (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(name = "named")]
    Linear<4, 4, E, D>,
    #[checkpoint(keep)]
    Case98<E, D>,
    #[policy]
    Policy,
);

fn plain_173(m: &mut Case173<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = plain_98(&mut m.2, x)?;
    Ok(x)
}

pub type Case174 = checkpoint_sequential!(
    segments = 2,
    Tanh,
    Tanh,
);

fn plain_174(m: &mut Built<Case174>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case175<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: (Linear<4, 4, E, D>, nn::Dropout),
}

fn plain_175(m: &mut Case175<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case176<E: Dtype, D: Device<E>> {
    f0: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    f2: Repeated<Case0<E, D>, 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case176<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = v0.try_sigmoid()?;
        #[checkpoint]
        let v3 = {
            let v2 = v1 * v0;
            #[checkpoint(name = "part")]
            let v3 = {
                let mut v3 = v2;
                #[checkpoint(segments = 2)]
                for block in &self.f0 {
                    v3 = block.forward(v3);
                }
                v3
            };
            v3
        };
        Ok(v3)
    }
}

fn plain_176(m: &mut Case176<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_mul(v0.clone())?.split_tape();
    let mut y = v2.clone().put_tape(t);
    for block in &mut m.f0.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v3, t) = y.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case177<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Repeated<Case9<E, D>, 2>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[checkpoint]
    f2: Linear<4, 4, E, D>,
    #[checkpoint]
    f3: LayerNorm1D<4, E, D>,
}

fn plain_177(m: &mut Case177<f32, Cpu>, x: Traced) -> Forward {
    let x = many(&mut m.f0, x, plain_9)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case178<E: Dtype, D: Device<E>> {
    f0: LayerNorm1D<4, E, D>,
    f1: BatchNorm1D<4, E, D>,
    f2: Repeated<Case63<E, D>, 2>,
    f3: Repeated<Case2<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case178<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v3 = {
            #[checkpoint]
            let v2 = {
                let v1 = v0 + self.p.clone().sin().broadcast_like(v0.shape());
                let v2 = v1.relu();
                v2
            };
            let v3 = v2.cos();
            v3
        };
        #[checkpoint]
        let v4 = v3 - self.p.clone().broadcast_like(v3.shape());
        v4
    }
}

fn plain_178(m: &mut Case178<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sin()?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(p.broadcast_like(v0.shape()))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_relu()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_cos()?.split_tape();
    let p = m.p.clone();
    let (v4, t) = v3.clone().put_tape(t).try_sub(p.broadcast_like(v3.shape()))?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case179<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: (Linear<4, 4, E, D>, ReLU),
    f2: LayerNorm1D<4, E, D>,
    f3: Repeated<Case98<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case179<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(verify)]
        let (v2, v3) = {
            let v1 = v0 * self.p.clone().relu().broadcast_like(v0.shape());
            let v2 = v1 * self.p.clone().cos().broadcast_like(v1.shape());
            #[checkpoint]
            let v3 = v1 * self.p.clone().sin().broadcast_like(v1.shape());
            (v2, v3)
        };
        #[checkpoint(plain)]
        let (v4, v5) = {
            let v4 = self.helper(v3);
            let v5 = v4 * E::from_f64(0.75).unwrap();
            (v4, v5)
        };
        let v6 = v2 + self.f1.forward(v5.cos());
        let v7 = v4 * self.p.clone().tanh().broadcast_like(v4.shape());
        v7
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f2.forward(x.sin());
        x + y
    }
}

fn plain_179(m: &mut Case179<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(p.broadcast_like(v0.shape()))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_cos()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_mul(p.broadcast_like(v1.shape()))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sin()?.split_tape();
    let (v3, t) = v1.clone().put_tape(t).try_mul(p.broadcast_like(v1.shape()))?.split_tape();
    let s = v3.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f2.try_forward_mut(s)?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_add(s)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let n = v5.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v6, t) = v2.clone().put_tape(t).try_add(n)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_tanh()?.split_tape();
    let (v7, t) = v4.clone().put_tape(t).try_mul(p.broadcast_like(v4.shape()))?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case180<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: Linear<4, 4, E, D>,
    #[checkpoint]
    f1: BatchNorm1D<4, E, D>,
    #[checkpoint(verify)]
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint]
    f3: Linear<4, 4, E, D>,
}

fn plain_180(m: &mut Case180<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

pub type Case181 = checkpoint_sequential!(
    segments = 8,
    Tanh,
    Sigmoid,
    Sigmoid,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    builders::Linear<4, 4>,
    builders::BatchNorm1D<4>,
    builders::BatchNorm1D<4>,
);

fn plain_181(m: &mut Built<Case181>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    let x = m.0.7.try_forward_mut(x)?;
    let x = m.0.8.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case182<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: BatchNorm1D<4, E, D>,
    #[checkpoint(verify)]
    f1: LayerNorm1D<4, E, D>,
}

fn plain_182(m: &mut Case182<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case183<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    f3: Repeated<Case175<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case183<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 - self.p.clone().broadcast_like(v0.shape());
        let v2 = v1 - self.p.clone().tanh().broadcast_like(v1.shape());
        let v3 = v2 * E::from_f64(0.75).unwrap();
        #[checkpoint]
        let v5 = {
            #[checkpoint]
            let v5 = {
                let v4 = v3 + self.p.clone().broadcast_like(v3.shape());
                let v5 = v4.sin();
                v5
            };
            v5
        };
        let v6 = v5 * v0;
        let v7 = v6 - self.p.clone().broadcast_like(v6.shape());
        v7
    }
}

fn plain_183(m: &mut Case183<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let p = m.p.clone();
    let (v1, t) = v0.clone().put_tape(t).try_sub(p.broadcast_like(v0.shape()))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_tanh()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sub(p.broadcast_like(v1.shape()))?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let p = m.p.clone();
    let (v4, t) = v3.clone().put_tape(t).try_add(p.broadcast_like(v3.shape()))?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_sin()?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_mul(v0.clone())?.split_tape();
    let p = m.p.clone();
    let (v7, t) = v6.clone().put_tape(t).try_sub(p.broadcast_like(v6.shape()))?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case184<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 2)]
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    f1: Case54<E, D>,
    #[checkpoint(verify)]
    f2: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[policy]
    policy: Policy,
}

fn plain_184(m: &mut Case184<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_54(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case185<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f1: Case182<E, D>,
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case185<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let (v1, v2) = {
            let v1 = self.f0.forward(v0);
            let v2 = v1 + v0;
            (v1, v2)
        };
        let v3 = v2.sin();
        #[checkpoint(keep)]
        let v4 = v2 + self.f0.forward(v3.square());
        #[checkpoint]
        let v6 = {
            let v5 = self.helper(v1);
            let v6 = self.f2.forward(v4);
            v6
        };
        v6
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f0.forward(x.sin());
        x + y
    }
}

fn plain_185(m: &mut Case185<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(v0.clone())?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_sin()?.split_tape();
    let n = v3.clone().put_tape(t).try_square()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v4, t) = v2.clone().put_tape(t).try_add(n)?.split_tape();
    let s = v1.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f0.try_forward_mut(s)?.split_tape();
    let (v5, t) = v1.clone().put_tape(t).try_add(s)?.split_tape();
    let (v6, t) = m.f2.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case186<E: Dtype, D: Device<E>> {
    f0: LayerNorm1D<4, E, D>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f2: Linear<4, 4, E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case186<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v2 = {
            let mut v1 = v0;
            #[checkpoint]
            for block in &self.f1 {
                v1 = block.forward(v1) + v0;
            }
            let v2 = self.f0.forward(v1.relu()) + v1;
            let v3 = self.helper(v2);
            v2
        };
        #[checkpoint]
        let v4 = self.f2.forward(v2);
        v4
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f2.forward(x.sin());
        x + y
    }
}

fn plain_186(m: &mut Case186<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v0.clone())?;
    }
    let (v1, t) = y.split_tape();
    let n = v1.clone().put_tape(t).try_relu()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v2, t) = n.put_tape(t).try_add(v1.clone())?.split_tape();
    let s = v2.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f2.try_forward_mut(s)?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(s)?.split_tape();
    let (v4, t) = m.f2.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case187<E: Dtype, D: Device<E>> {
    #[checkpoint(verify)]
    f0: BatchNorm1D<4, E, D>,
    #[checkpoint(each, verify)]
    f1: Repeated<Case108<E, D>, 2>,
    #[policy]
    policy: Policy,
}

fn plain_187(m: &mut Case187<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = many(&mut m.f1, x, plain_108)?;
    Ok(x)
}

checkpoint_sequential! {
    each;
    pub struct Case188 {
        l0: builders::Linear<4, 4>,
        l1: builders::Linear<4, 4>,
        l2: Tanh,
    }
}

fn plain_188(m: &mut Built<Case188>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case189<E: Dtype, D: Device<E>>(
    Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[checkpoint(segments = 2, verify)]
    (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(segments = 3, name = "named")]
    (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint]
    Case54<E, D>,
    #[checkpoint(segments = 2)]
    Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
);

fn plain_189(m: &mut Case189<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    let x = plain_54(&mut m.3, x)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case190<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: Case171<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case190<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let v1 = v0.cos();
        #[checkpoint]
        let v3 = {
            #[checkpoint]
            let v2 = if self.gate > 0.5 { self.f0.forward(v1) } else { v1.sigmoid() };
            let v3 = v2 + v1;
            v3
        };
        #[checkpoint]
        let v5 = {
            #[checkpoint]
            let v5 = {
                let v4 = v3.square();
                let v5 = self.helper(v4);
                v5
            };
            v5
        };
        let v6 = v5 - self.p.clone().broadcast_like(v5.shape());
        #[checkpoint]
        let v8 = {
            #[checkpoint]
            let v8 = {
                let v7 = self.f1.forward(v6);
                let v8 = self.f1.forward(v7);
                v8
            };
            v8
        };
        v8
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f0.forward(x.sin());
        x + y
    }
}

fn plain_190(m: &mut Case190<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_cos()?.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v1.clone().put_tape(t))? } else { v1.clone().put_tape(t).try_sigmoid()? };
    let (v2, t) = y.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(v1.clone())?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_square()?.split_tape();
    let s = v4.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f0.try_forward_mut(s)?.split_tape();
    let (v5, t) = v4.clone().put_tape(t).try_add(s)?.split_tape();
    let p = m.p.clone();
    let (v6, t) = v5.clone().put_tape(t).try_sub(p.broadcast_like(v5.shape()))?.split_tape();
    let (v7, t) = plain_171(&mut m.f1, v6.clone().put_tape(t))?.split_tape();
    let (v8, t) = plain_171(&mut m.f1, v7.clone().put_tape(t))?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case191<E: Dtype, D: Device<E>>(
    #[checkpoint(verify)]
    Linear<4, 4, E, D>,
    #[checkpoint(each)]
    (Linear<4, 4, E, D>, nn::Dropout),
    Case173<E, D>,
    #[checkpoint(segments = 1, verify)]
    (Linear<4, 4, E, D>, nn::Dropout),
);

fn plain_191(m: &mut Case191<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = plain_173(&mut m.2, x)?;
    let x = m.3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case192<E: Dtype, D: Device<E>> {
    f0: LayerNorm1D<4, E, D>,
    f1: LayerNorm1D<4, E, D>,
    f2: Repeated<Case40<E, D>, 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case192<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(verify)]
        let v1 = v0 * self.p.clone().square().broadcast_like(v0.shape());
        let v2 = v1.relu();
        #[checkpoint]
        let v3 = self.f1.forward(v2.relu()) + v2;
        let v4 = v3 * E::from_f64(0.75).unwrap();
        #[checkpoint]
        let v6 = {
            #[checkpoint(plain)]
            let v6 = {
                let mut v5 = v0;
                #[checkpoint(segments = 1)]
                for block in &self.f2 {
                    v5 = block.forward(v5) + v0;
                }
                let v6 = v5 * v2;
                v6
            };
            v6
        };
        let v7 = self.f0.forward(v6.cos()) * v3;
        v7
    }
}

fn plain_192(m: &mut Case192<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_square()?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(p.broadcast_like(v0.shape()))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_relu()?.split_tape();
    let n = v2.clone().put_tape(t).try_relu()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v3, t) = n.put_tape(t).try_add(v2.clone())?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f2.modules {
        y = plain_40(block, y)?;
        y = y.try_add(v0.clone())?;
    }
    let (v5, t) = y.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_mul(v2.clone())?.split_tape();
    let n = v6.clone().put_tape(t).try_cos()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v7, t) = n.put_tape(t).try_mul(v3.clone())?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case193<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case193<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = self.f1.try_forward(v0)?;
        let v2 = self.f1.try_forward(v0)?;
        let v3 = self.f1.try_forward(v2)?;
        #[checkpoint(verify)]
        let v5 = {
            let v4 = v3 - self.p.clone().sigmoid().broadcast_like(v3.shape());
            #[checkpoint]
            let v5 = self.f1.try_forward(v4)?;
            v5
        };
        #[checkpoint(verify)]
        let v7 = {
            #[checkpoint(keep)]
            let v7 = {
                let v6 = v5.try_square()?;
                let v7 = self.helper(v6);
                v7
            };
            v7
        };
        let v8 = v7.try_sin()?;
        Ok(v8)
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f0.forward(x.sin());
        x + y
    }
}

fn plain_193(m: &mut Case193<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = m.f1.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v3, t) = m.f1.try_forward_mut(v2.clone().put_tape(t))?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sigmoid()?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_sub(p.broadcast_like(v3.shape()))?.split_tape();
    let (v5, t) = m.f1.try_forward_mut(v4.clone().put_tape(t))?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_square()?.split_tape();
    let s = v6.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f0.try_forward_mut(s)?.split_tape();
    let (v7, t) = v6.clone().put_tape(t).try_add(s)?.split_tape();
    let (v8, t) = v7.clone().put_tape(t).try_sin()?.split_tape();
    Ok(v8.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case194<E: Dtype, D: Device<E>> {
    #[checkpoint(keep)]
    f0: LayerNorm1D<4, E, D>,
    #[checkpoint(keep)]
    f1: BatchNorm1D<4, E, D>,
}

fn plain_194(m: &mut Case194<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 2;
    pub struct Case195 {
        l0: Tanh,
        l1: nn::Dropout,
        l2: (builders::Linear<4, 6>, Tanh, builders::Linear<6, 4>),
        l3: nn::Dropout,
        l4: builders::Linear<4, 4>,
        l5: builders::BatchNorm1D<4>,
    }
}

fn plain_195(m: &mut Built<Case195>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    let x = m.l2.try_forward_mut(x)?;
    let x = m.l3.try_forward_mut(x)?;
    let x = m.l4.try_forward_mut(x)?;
    let x = m.l5.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case196<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(verify, name = "named")]
    f1: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    #[checkpoint(segments = 2)]
    f2: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint]
    f3: Residual<(Linear<4, 4, E, D>, Tanh)>,
}

fn plain_196(m: &mut Case196<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case197<E: Dtype, D: Device<E>> {
    f0: LayerNorm1D<4, E, D>,
    f1: Repeated<Case157<E, D>, 3>,
    f2: Residual<(Linear<4, 4, E, D>, Tanh)>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case197<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let v1 = v0 + self.f2.try_forward(v0.try_sin()?)?;
        #[checkpoint]
        let v3 = {
            let v2 = v1 * self.p.clone().sin().broadcast_like(v1.shape());
            #[checkpoint(verify)]
            let v3 = if self.gate > 0.5 { self.f2.forward(v2) } else { v2.cos() };
            v3
        };
        #[checkpoint(name = "part")]
        let v5 = {
            let v4 = v3 * E::from_f64(0.75).unwrap();
            #[checkpoint(verify)]
            let v5 = v0 * self.p.clone().sin().broadcast_like(v0.shape());
            v5
        };
        Ok(v5)
    }
}

fn plain_197(m: &mut Case197<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_sin()?;
    let (n, t) = m.f2.try_forward_mut(n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sin()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_mul(p.broadcast_like(v1.shape()))?.split_tape();
    let y = if m.gate > 0.5 { m.f2.try_forward_mut(v2.clone().put_tape(t))? } else { v2.clone().put_tape(t).try_cos()? };
    let (v3, t) = y.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_mul(0.75)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_sin()?.split_tape();
    let (v5, t) = v0.clone().put_tape(t).try_mul(p.broadcast_like(v0.shape()))?.split_tape();
    Ok(v5.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case198<E: Dtype, D: Device<E>>(
    #[checkpoint]
    Linear<4, 4, E, D>,
    #[checkpoint(plain)]
    Linear<4, 4, E, D>,
    (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
);

fn plain_198(m: &mut Case198<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = m.2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case199<E: Dtype, D: Device<E>> {
    f0: Linear<4, 4, E, D>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    f2: Repeated<Case19<E, D>, 3>,
    f3: Repeated<(Linear<4, 4, E, D>, Tanh), 2>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case199<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(keep)]
        let v3 = {
            #[checkpoint(verify)]
            let v3 = {
                let v1 = if self.gate > 0.5 { self.f0.forward(v0) } else { v0.relu() };
                let v2 = v1 + self.p.clone().square().broadcast_like(v1.shape());
                let mut v3 = v2;
                #[checkpoint(each)]
                for block in &self.f1 {
                    v3 = block.forward(v3);
                }
                v3
            };
            v3
        };
        #[checkpoint(verify)]
        let v4 = v0 + self.f1.forward(v3.square());
        v4
    }
}

fn plain_199(m: &mut Case199<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let y = if m.gate > 0.5 { m.f0.try_forward_mut(v0.clone().put_tape(t))? } else { v0.clone().put_tape(t).try_relu()? };
    let (v1, t) = y.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_square()?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(p.broadcast_like(v1.shape()))?.split_tape();
    let mut y = v2.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v3, t) = y.split_tape();
    let n = v3.clone().put_tape(t).try_square()?;
    let (n, t) = m.f1.try_forward_mut(n)?.split_tape();
    let (v4, t) = v0.clone().put_tape(t).try_add(n)?.split_tape();
    Ok(v4.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case200<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: Repeated<Case173<E, D>, 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case200<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 * self.f0.forward(v0.square());
        let v2 = self.helper(v1);
        let v3 = v2 + self.p.clone().relu().broadcast_like(v2.shape());
        let v4 = self.f0.forward(v0);
        let v5 = v2 * v4;
        #[checkpoint]
        let v6 = if self.gate > 0.5 { self.f1.forward(v5) } else { v5.sin() };
        v6
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f0.forward(x.sin());
        x + y
    }
}

fn plain_200(m: &mut Case200<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let n = v0.clone().put_tape(t).try_square()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(n)?.split_tape();
    let s = v1.clone().put_tape(t).try_sin()?;
    let (s, t) = m.f0.try_forward_mut(s)?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_add(s)?.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_add(p.broadcast_like(v2.shape()))?.split_tape();
    let (v4, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v5, t) = v2.clone().put_tape(t).try_mul(v4.clone())?.split_tape();
    let y = if m.gate > 0.5 { many(&mut m.f1, v5.clone().put_tape(t), plain_173)? } else { v5.clone().put_tape(t).try_sin()? };
    let (v6, t) = y.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case201<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 2)]
    f0: (Linear<4, 4, E, D>, ReLU),
    f1: Case180<E, D>,
    #[checkpoint(each, name = "named")]
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(verify)]
    f3: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
}

fn plain_201(m: &mut Case201<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_180(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

pub type Case202 = checkpoint_sequential!(
    each,
    builders::Linear<4, 4>,
    builders::BatchNorm1D<4>,
    builders::Linear<4, 4>,
    nn::Dropout,
    Residual<(builders::Linear<4, 4>, Tanh)>,
    Tanh,
    Sigmoid,
    Residual<(builders::Linear<4, 4>, Tanh)>,
);

fn plain_202(m: &mut Built<Case202>, x: Traced) -> Forward {
    let x = m.0.0.try_forward_mut(x)?;
    let x = m.0.1.try_forward_mut(x)?;
    let x = m.0.2.try_forward_mut(x)?;
    let x = m.0.3.try_forward_mut(x)?;
    let x = m.0.4.try_forward_mut(x)?;
    let x = m.0.5.try_forward_mut(x)?;
    let x = m.0.6.try_forward_mut(x)?;
    let x = m.0.7.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case203<E: Dtype, D: Device<E>> {
    #[checkpoint]
    f0: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(name = "named")]
    f1: Case40<E, D>,
    #[checkpoint(keep)]
    f2: Linear<4, 4, E, D>,
    #[checkpoint(name = "named")]
    f3: Residual<(Linear<4, 4, E, D>, Tanh)>,
}

fn plain_203(m: &mut Case203<f32, Cpu>, x: Traced) -> Forward {
    let x = m.f0.try_forward_mut(x)?;
    let x = plain_40(&mut m.f1, x)?;
    let x = m.f2.try_forward_mut(x)?;
    let x = m.f3.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case204<E: Dtype, D: Device<E>> {
    f0: BatchNorm1D<4, E, D>,
    f1: Case182<E, D>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case204<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let (v2, v3) = {
            #[checkpoint(plain)]
            let v1 = self.f0.forward(v0);
            let v2 = v1.sin();
            #[checkpoint(keep)]
            let v3 = self.f1.forward(v1);
            (v2, v3)
        };
        #[checkpoint(name = "part")]
        let v6 = {
            let v4 = self.f0.forward(v3.sin()) + v2;
            #[checkpoint(plain)]
            let v5 = self.f1.forward(v4.sigmoid()) * v2;
            let v6 = self.helper(v5);
            v6
        };
        let v7 = self.f1.forward(v6);
        v7
    }

    fn helper<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y = self.f1.forward(x.sin());
        x + y
    }
}

fn plain_204(m: &mut Case204<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (v1, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    let (v2, t) = v1.clone().put_tape(t).try_sin()?.split_tape();
    let (v3, t) = plain_182(&mut m.f1, v1.clone().put_tape(t))?.split_tape();
    let n = v3.clone().put_tape(t).try_sin()?;
    let (n, t) = m.f0.try_forward_mut(n)?.split_tape();
    let (v4, t) = n.put_tape(t).try_add(v2.clone())?.split_tape();
    let n = v4.clone().put_tape(t).try_sigmoid()?;
    let (n, t) = plain_182(&mut m.f1, n)?.split_tape();
    let (v5, t) = n.put_tape(t).try_mul(v2.clone())?.split_tape();
    let s = v5.clone().put_tape(t).try_sin()?;
    let (s, t) = plain_182(&mut m.f1, s)?.split_tape();
    let (v6, t) = v5.clone().put_tape(t).try_add(s)?.split_tape();
    let (v7, t) = plain_182(&mut m.f1, v6.clone().put_tape(t))?.split_tape();
    Ok(v7.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case205<E: Dtype, D: Device<E>> {
    #[checkpoint(name = "named")]
    f0: Case180<E, D>,
    #[checkpoint(segments = 1)]
    f1: (Linear<4, 4, E, D>, nn::Dropout),
    #[checkpoint(keep)]
    f2: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
}

fn plain_205(m: &mut Case205<f32, Cpu>, x: Traced) -> Forward {
    let x = plain_180(&mut m.f0, x)?;
    let x = m.f1.try_forward_mut(x)?;
    let x = m.f2.try_forward_mut(x)?;
    Ok(x)
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case206<E: Dtype, D: Device<E>> {
    f0: Residual<(Linear<4, 4, E, D>, Tanh)>,
    f1: Repeated<(Linear<4, 4, E, D>, Tanh), 3>,
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case206<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let mut v1 = v0;
        #[checkpoint(segments = 2)]
        for block in &self.f1 {
            v1 = block.forward(v1) + v0;
        }
        let mut v2 = v0;
        #[checkpoint]
        for block in &self.f1 {
            v2 = block.forward(v2);
        }
        #[checkpoint]
        let v4 = {
            #[checkpoint(verify)]
            let v4 = {
                let v3 = v2.try_tanh()?;
                let v4 = v3.try_tanh()?;
                v4
            };
            v4
        };
        let mut v5 = v4;
        #[checkpoint(each)]
        for block in &self.f1 {
            v5 = block.forward(v5);
        }
        #[checkpoint]
        let v6 = self.f0.try_forward(v0)?;
        Ok(v6)
    }
}

fn plain_206(m: &mut Case206<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
        y = y.try_add(v0.clone())?;
    }
    let (v1, t) = y.split_tape();
    let mut y = v0.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v2, t) = y.split_tape();
    let (v3, t) = v2.clone().put_tape(t).try_tanh()?.split_tape();
    let (v4, t) = v3.clone().put_tape(t).try_tanh()?.split_tape();
    let mut y = v4.clone().put_tape(t);
    for block in &mut m.f1.modules {
        y = block.try_forward_mut(y)?;
    }
    let (v5, t) = y.split_tape();
    let (v6, t) = m.f0.try_forward_mut(v0.clone().put_tape(t))?.split_tape();
    Ok(v6.put_tape(t))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Case207<E: Dtype, D: Device<E>> {
    f0: (Linear<4, 6, E, D>, Sigmoid, Linear<6, 4, E, D>),
    f1: Case2<E, D>,
    f2: (Linear<4, 4, E, D>, nn::Dropout),
    #[param(init = small)]
    p: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    gate: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Case207<E, D> {
    fn forward<B: Dim>(&self, v0: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let v1 = v0 * self.p.clone().relu().broadcast_like(v0.shape());
        let v2 = v1 * self.p.clone().broadcast_like(v1.shape());
        #[checkpoint]
        let v3 = v1.tanh();
        v3
    }
}

fn plain_207(m: &mut Case207<f32, Cpu>, x: Traced) -> Forward {
    let (v0, t) = x.split_tape();
    let (p, t) = m.p.clone().put_tape(t).try_relu()?.split_tape();
    let (v1, t) = v0.clone().put_tape(t).try_mul(p.broadcast_like(v0.shape()))?.split_tape();
    let p = m.p.clone();
    let (v2, t) = v1.clone().put_tape(t).try_mul(p.broadcast_like(v1.shape()))?.split_tape();
    let (v3, t) = v1.clone().put_tape(t).try_tanh()?.split_tape();
    Ok(v3.put_tape(t))
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Case208<E: Dtype, D: Device<E>>(
    #[checkpoint(verify)]
    Linear<4, 4, E, D>,
    #[checkpoint]
    Linear<4, 4, E, D>,
    Repeated<Case157<E, D>, 3>,
    #[checkpoint(keep)]
    Linear<4, 4, E, D>,
    Linear<4, 4, E, D>,
);

fn plain_208(m: &mut Case208<f32, Cpu>, x: Traced) -> Forward {
    let x = m.0.try_forward_mut(x)?;
    let x = m.1.try_forward_mut(x)?;
    let x = many(&mut m.2, x, plain_157)?;
    let x = m.3.try_forward_mut(x)?;
    let x = m.4.try_forward_mut(x)?;
    Ok(x)
}

checkpoint_sequential! {
    segments = 1;
    pub struct Case209 {
        l0: Sigmoid,
        l1: Tanh,
    }
}

fn plain_209(m: &mut Built<Case209>, x: Traced) -> Forward {
    let x = m.l0.try_forward_mut(x)?;
    let x = m.l1.try_forward_mut(x)?;
    Ok(x)
}

pub const CASES: &[Case] = &[
    Case { name: "Case0", stateless: false, build: |dev| of::<Case0Builder>(dev, plain_0) },
    Case { name: "Case1", stateless: false, build: |dev| of::<Case1Builder>(dev, plain_1) },
    Case { name: "Case2", stateless: false, build: |dev| of::<Case2Builder>(dev, plain_2) },
    Case { name: "Case3", stateless: true, build: |dev| of::<Case3Builder>(dev, plain_3) },
    Case { name: "Case4", stateless: false, build: |dev| of::<Case4Builder>(dev, plain_4) },
    Case { name: "Case5", stateless: false, build: |dev| of::<Case5Builder>(dev, plain_5) },
    Case { name: "Case6", stateless: false, build: |dev| of::<Case6>(dev, plain_6) },
    Case { name: "Case7", stateless: false, build: |dev| of::<Case7Builder>(dev, plain_7) },
    Case { name: "Case8", stateless: false, build: |dev| of::<Case8Builder>(dev, plain_8) },
    Case { name: "Case9", stateless: false, build: |dev| of::<Case9Builder>(dev, plain_9) },
    Case { name: "Case10", stateless: false, build: |dev| of::<Case10Builder>(dev, plain_10) },
    Case { name: "Case11", stateless: false, build: |dev| of::<Case11Builder>(dev, plain_11) },
    Case { name: "Case12", stateless: false, build: |dev| of::<Case12Builder>(dev, plain_12) },
    Case { name: "Case13", stateless: false, build: |dev| of::<Case13>(dev, plain_13) },
    Case { name: "Case14", stateless: false, build: |dev| of::<Case14Builder>(dev, plain_14) },
    Case { name: "Case15", stateless: false, build: |dev| of::<Case15Builder>(dev, plain_15) },
    Case { name: "Case16", stateless: false, build: |dev| of::<Case16Builder>(dev, plain_16) },
    Case { name: "Case17", stateless: true, build: |dev| of::<Case17Builder>(dev, plain_17) },
    Case { name: "Case18", stateless: false, build: |dev| of::<Case18Builder>(dev, plain_18) },
    Case { name: "Case19", stateless: true, build: |dev| of::<Case19Builder>(dev, plain_19) },
    Case { name: "Case20", stateless: false, build: |dev| of::<Case20>(dev, plain_20) },
    Case { name: "Case21", stateless: true, build: |dev| of::<Case21Builder>(dev, plain_21) },
    Case { name: "Case22", stateless: false, build: |dev| of::<Case22Builder>(dev, plain_22) },
    Case { name: "Case23", stateless: false, build: |dev| of::<Case23Builder>(dev, plain_23) },
    Case { name: "Case24", stateless: false, build: |dev| of::<Case24Builder>(dev, plain_24) },
    Case { name: "Case25", stateless: true, build: |dev| of::<Case25Builder>(dev, plain_25) },
    Case { name: "Case26", stateless: true, build: |dev| of::<Case26Builder>(dev, plain_26) },
    Case { name: "Case27", stateless: false, build: |dev| of::<Case27>(dev, plain_27) },
    Case { name: "Case28", stateless: false, build: |dev| of::<Case28Builder>(dev, plain_28) },
    Case { name: "Case29", stateless: false, build: |dev| of::<Case29Builder>(dev, plain_29) },
    Case { name: "Case30", stateless: false, build: |dev| of::<Case30Builder>(dev, plain_30) },
    Case { name: "Case31", stateless: false, build: |dev| of::<Case31Builder>(dev, plain_31) },
    Case { name: "Case32", stateless: false, build: |dev| of::<Case32Builder>(dev, plain_32) },
    Case { name: "Case33", stateless: false, build: |dev| of::<Case33Builder>(dev, plain_33) },
    Case { name: "Case34", stateless: false, build: |dev| of::<Case34>(dev, plain_34) },
    Case { name: "Case35", stateless: false, build: |dev| of::<Case35Builder>(dev, plain_35) },
    Case { name: "Case36", stateless: false, build: |dev| of::<Case36Builder>(dev, plain_36) },
    Case { name: "Case37", stateless: false, build: |dev| of::<Case37Builder>(dev, plain_37) },
    Case { name: "Case38", stateless: false, build: |dev| of::<Case38Builder>(dev, plain_38) },
    Case { name: "Case39", stateless: false, build: |dev| of::<Case39Builder>(dev, plain_39) },
    Case { name: "Case40", stateless: false, build: |dev| of::<Case40Builder>(dev, plain_40) },
    Case { name: "Case41", stateless: false, build: |dev| of::<Case41>(dev, plain_41) },
    Case { name: "Case42", stateless: true, build: |dev| of::<Case42Builder>(dev, plain_42) },
    Case { name: "Case43", stateless: false, build: |dev| of::<Case43Builder>(dev, plain_43) },
    Case { name: "Case44", stateless: false, build: |dev| of::<Case44Builder>(dev, plain_44) },
    Case { name: "Case45", stateless: true, build: |dev| of::<Case45Builder>(dev, plain_45) },
    Case { name: "Case46", stateless: false, build: |dev| of::<Case46Builder>(dev, plain_46) },
    Case { name: "Case47", stateless: true, build: |dev| of::<Case47Builder>(dev, plain_47) },
    Case { name: "Case48", stateless: false, build: |dev| of::<Case48>(dev, plain_48) },
    Case { name: "Case49", stateless: false, build: |dev| of::<Case49Builder>(dev, plain_49) },
    Case { name: "Case50", stateless: false, build: |dev| of::<Case50Builder>(dev, plain_50) },
    Case { name: "Case51", stateless: false, build: |dev| of::<Case51Builder>(dev, plain_51) },
    Case { name: "Case52", stateless: true, build: |dev| of::<Case52Builder>(dev, plain_52) },
    Case { name: "Case53", stateless: false, build: |dev| of::<Case53Builder>(dev, plain_53) },
    Case { name: "Case54", stateless: true, build: |dev| of::<Case54Builder>(dev, plain_54) },
    Case { name: "Case55", stateless: true, build: |dev| of::<Case55>(dev, plain_55) },
    Case { name: "Case56", stateless: false, build: |dev| of::<Case56Builder>(dev, plain_56) },
    Case { name: "Case57", stateless: true, build: |dev| of::<Case57Builder>(dev, plain_57) },
    Case { name: "Case58", stateless: false, build: |dev| of::<Case58Builder>(dev, plain_58) },
    Case { name: "Case59", stateless: true, build: |dev| of::<Case59Builder>(dev, plain_59) },
    Case { name: "Case60", stateless: false, build: |dev| of::<Case60Builder>(dev, plain_60) },
    Case { name: "Case61", stateless: false, build: |dev| of::<Case61Builder>(dev, plain_61) },
    Case { name: "Case62", stateless: true, build: |dev| of::<Case62>(dev, plain_62) },
    Case { name: "Case63", stateless: false, build: |dev| of::<Case63Builder>(dev, plain_63) },
    Case { name: "Case64", stateless: false, build: |dev| of::<Case64Builder>(dev, plain_64) },
    Case { name: "Case65", stateless: false, build: |dev| of::<Case65Builder>(dev, plain_65) },
    Case { name: "Case66", stateless: false, build: |dev| of::<Case66Builder>(dev, plain_66) },
    Case { name: "Case67", stateless: false, build: |dev| of::<Case67Builder>(dev, plain_67) },
    Case { name: "Case68", stateless: false, build: |dev| of::<Case68Builder>(dev, plain_68) },
    Case { name: "Case69", stateless: false, build: |dev| of::<Case69>(dev, plain_69) },
    Case { name: "Case70", stateless: true, build: |dev| of::<Case70Builder>(dev, plain_70) },
    Case { name: "Case71", stateless: false, build: |dev| of::<Case71Builder>(dev, plain_71) },
    Case { name: "Case72", stateless: false, build: |dev| of::<Case72Builder>(dev, plain_72) },
    Case { name: "Case73", stateless: false, build: |dev| of::<Case73Builder>(dev, plain_73) },
    Case { name: "Case74", stateless: false, build: |dev| of::<Case74Builder>(dev, plain_74) },
    Case { name: "Case75", stateless: false, build: |dev| of::<Case75Builder>(dev, plain_75) },
    Case { name: "Case76", stateless: false, build: |dev| of::<Case76>(dev, plain_76) },
    Case { name: "Case77", stateless: false, build: |dev| of::<Case77Builder>(dev, plain_77) },
    Case { name: "Case78", stateless: false, build: |dev| of::<Case78Builder>(dev, plain_78) },
    Case { name: "Case79", stateless: false, build: |dev| of::<Case79Builder>(dev, plain_79) },
    Case { name: "Case80", stateless: false, build: |dev| of::<Case80Builder>(dev, plain_80) },
    Case { name: "Case81", stateless: false, build: |dev| of::<Case81Builder>(dev, plain_81) },
    Case { name: "Case82", stateless: false, build: |dev| of::<Case82Builder>(dev, plain_82) },
    Case { name: "Case83", stateless: true, build: |dev| of::<Case83>(dev, plain_83) },
    Case { name: "Case84", stateless: true, build: |dev| of::<Case84Builder>(dev, plain_84) },
    Case { name: "Case85", stateless: false, build: |dev| of::<Case85Builder>(dev, plain_85) },
    Case { name: "Case86", stateless: false, build: |dev| of::<Case86Builder>(dev, plain_86) },
    Case { name: "Case87", stateless: true, build: |dev| of::<Case87Builder>(dev, plain_87) },
    Case { name: "Case88", stateless: false, build: |dev| of::<Case88Builder>(dev, plain_88) },
    Case { name: "Case89", stateless: false, build: |dev| of::<Case89Builder>(dev, plain_89) },
    Case { name: "Case90", stateless: false, build: |dev| of::<Case90>(dev, plain_90) },
    Case { name: "Case91", stateless: false, build: |dev| of::<Case91Builder>(dev, plain_91) },
    Case { name: "Case92", stateless: true, build: |dev| of::<Case92Builder>(dev, plain_92) },
    Case { name: "Case93", stateless: true, build: |dev| of::<Case93Builder>(dev, plain_93) },
    Case { name: "Case94", stateless: false, build: |dev| of::<Case94Builder>(dev, plain_94) },
    Case { name: "Case95", stateless: false, build: |dev| of::<Case95Builder>(dev, plain_95) },
    Case { name: "Case96", stateless: true, build: |dev| of::<Case96Builder>(dev, plain_96) },
    Case { name: "Case97", stateless: false, build: |dev| of::<Case97>(dev, plain_97) },
    Case { name: "Case98", stateless: false, build: |dev| of::<Case98Builder>(dev, plain_98) },
    Case { name: "Case99", stateless: false, build: |dev| of::<Case99Builder>(dev, plain_99) },
    Case { name: "Case100", stateless: false, build: |dev| of::<Case100Builder>(dev, plain_100) },
    Case { name: "Case101", stateless: false, build: |dev| of::<Case101Builder>(dev, plain_101) },
    Case { name: "Case102", stateless: true, build: |dev| of::<Case102Builder>(dev, plain_102) },
    Case { name: "Case103", stateless: false, build: |dev| of::<Case103Builder>(dev, plain_103) },
    Case { name: "Case104", stateless: false, build: |dev| of::<Case104>(dev, plain_104) },
    Case { name: "Case105", stateless: false, build: |dev| of::<Case105Builder>(dev, plain_105) },
    Case { name: "Case106", stateless: false, build: |dev| of::<Case106Builder>(dev, plain_106) },
    Case { name: "Case107", stateless: false, build: |dev| of::<Case107Builder>(dev, plain_107) },
    Case { name: "Case108", stateless: false, build: |dev| of::<Case108Builder>(dev, plain_108) },
    Case { name: "Case109", stateless: false, build: |dev| of::<Case109Builder>(dev, plain_109) },
    Case { name: "Case110", stateless: false, build: |dev| of::<Case110Builder>(dev, plain_110) },
    Case { name: "Case111", stateless: false, build: |dev| of::<Case111>(dev, plain_111) },
    Case { name: "Case112", stateless: false, build: |dev| of::<Case112Builder>(dev, plain_112) },
    Case { name: "Case113", stateless: false, build: |dev| of::<Case113Builder>(dev, plain_113) },
    Case { name: "Case114", stateless: false, build: |dev| of::<Case114Builder>(dev, plain_114) },
    Case { name: "Case115", stateless: false, build: |dev| of::<Case115Builder>(dev, plain_115) },
    Case { name: "Case116", stateless: true, build: |dev| of::<Case116Builder>(dev, plain_116) },
    Case { name: "Case117", stateless: false, build: |dev| of::<Case117Builder>(dev, plain_117) },
    Case { name: "Case118", stateless: true, build: |dev| of::<Case118>(dev, plain_118) },
    Case { name: "Case119", stateless: true, build: |dev| of::<Case119Builder>(dev, plain_119) },
    Case { name: "Case120", stateless: true, build: |dev| of::<Case120Builder>(dev, plain_120) },
    Case { name: "Case121", stateless: true, build: |dev| of::<Case121Builder>(dev, plain_121) },
    Case { name: "Case122", stateless: false, build: |dev| of::<Case122Builder>(dev, plain_122) },
    Case { name: "Case123", stateless: true, build: |dev| of::<Case123Builder>(dev, plain_123) },
    Case { name: "Case124", stateless: true, build: |dev| of::<Case124Builder>(dev, plain_124) },
    Case { name: "Case125", stateless: false, build: |dev| of::<Case125>(dev, plain_125) },
    Case { name: "Case126", stateless: false, build: |dev| of::<Case126Builder>(dev, plain_126) },
    Case { name: "Case127", stateless: false, build: |dev| of::<Case127Builder>(dev, plain_127) },
    Case { name: "Case128", stateless: true, build: |dev| of::<Case128Builder>(dev, plain_128) },
    Case { name: "Case129", stateless: true, build: |dev| of::<Case129Builder>(dev, plain_129) },
    Case { name: "Case130", stateless: true, build: |dev| of::<Case130Builder>(dev, plain_130) },
    Case { name: "Case131", stateless: false, build: |dev| of::<Case131Builder>(dev, plain_131) },
    Case { name: "Case132", stateless: false, build: |dev| of::<Case132>(dev, plain_132) },
    Case { name: "Case133", stateless: false, build: |dev| of::<Case133Builder>(dev, plain_133) },
    Case { name: "Case134", stateless: false, build: |dev| of::<Case134Builder>(dev, plain_134) },
    Case { name: "Case135", stateless: false, build: |dev| of::<Case135Builder>(dev, plain_135) },
    Case { name: "Case136", stateless: true, build: |dev| of::<Case136Builder>(dev, plain_136) },
    Case { name: "Case137", stateless: false, build: |dev| of::<Case137Builder>(dev, plain_137) },
    Case { name: "Case138", stateless: false, build: |dev| of::<Case138Builder>(dev, plain_138) },
    Case { name: "Case139", stateless: false, build: |dev| of::<Case139>(dev, plain_139) },
    Case { name: "Case140", stateless: true, build: |dev| of::<Case140Builder>(dev, plain_140) },
    Case { name: "Case141", stateless: false, build: |dev| of::<Case141Builder>(dev, plain_141) },
    Case { name: "Case142", stateless: false, build: |dev| of::<Case142Builder>(dev, plain_142) },
    Case { name: "Case143", stateless: false, build: |dev| of::<Case143Builder>(dev, plain_143) },
    Case { name: "Case144", stateless: false, build: |dev| of::<Case144Builder>(dev, plain_144) },
    Case { name: "Case145", stateless: false, build: |dev| of::<Case145Builder>(dev, plain_145) },
    Case { name: "Case146", stateless: false, build: |dev| of::<Case146>(dev, plain_146) },
    Case { name: "Case147", stateless: false, build: |dev| of::<Case147Builder>(dev, plain_147) },
    Case { name: "Case148", stateless: false, build: |dev| of::<Case148Builder>(dev, plain_148) },
    Case { name: "Case149", stateless: false, build: |dev| of::<Case149Builder>(dev, plain_149) },
    Case { name: "Case150", stateless: false, build: |dev| of::<Case150Builder>(dev, plain_150) },
    Case { name: "Case151", stateless: false, build: |dev| of::<Case151Builder>(dev, plain_151) },
    Case { name: "Case152", stateless: false, build: |dev| of::<Case152Builder>(dev, plain_152) },
    Case { name: "Case153", stateless: true, build: |dev| of::<Case153>(dev, plain_153) },
    Case { name: "Case154", stateless: false, build: |dev| of::<Case154Builder>(dev, plain_154) },
    Case { name: "Case155", stateless: false, build: |dev| of::<Case155Builder>(dev, plain_155) },
    Case { name: "Case156", stateless: false, build: |dev| of::<Case156Builder>(dev, plain_156) },
    Case { name: "Case157", stateless: false, build: |dev| of::<Case157Builder>(dev, plain_157) },
    Case { name: "Case158", stateless: false, build: |dev| of::<Case158Builder>(dev, plain_158) },
    Case { name: "Case159", stateless: false, build: |dev| of::<Case159Builder>(dev, plain_159) },
    Case { name: "Case160", stateless: false, build: |dev| of::<Case160>(dev, plain_160) },
    Case { name: "Case161", stateless: false, build: |dev| of::<Case161Builder>(dev, plain_161) },
    Case { name: "Case162", stateless: false, build: |dev| of::<Case162Builder>(dev, plain_162) },
    Case { name: "Case163", stateless: false, build: |dev| of::<Case163Builder>(dev, plain_163) },
    Case { name: "Case164", stateless: false, build: |dev| of::<Case164Builder>(dev, plain_164) },
    Case { name: "Case165", stateless: false, build: |dev| of::<Case165Builder>(dev, plain_165) },
    Case { name: "Case166", stateless: false, build: |dev| of::<Case166Builder>(dev, plain_166) },
    Case { name: "Case167", stateless: true, build: |dev| of::<Case167>(dev, plain_167) },
    Case { name: "Case168", stateless: false, build: |dev| of::<Case168Builder>(dev, plain_168) },
    Case { name: "Case169", stateless: false, build: |dev| of::<Case169Builder>(dev, plain_169) },
    Case { name: "Case170", stateless: false, build: |dev| of::<Case170Builder>(dev, plain_170) },
    Case { name: "Case171", stateless: false, build: |dev| of::<Case171Builder>(dev, plain_171) },
    Case { name: "Case172", stateless: true, build: |dev| of::<Case172Builder>(dev, plain_172) },
    Case { name: "Case173", stateless: false, build: |dev| of::<Case173Builder>(dev, plain_173) },
    Case { name: "Case174", stateless: true, build: |dev| of::<Case174>(dev, plain_174) },
    Case { name: "Case175", stateless: false, build: |dev| of::<Case175Builder>(dev, plain_175) },
    Case { name: "Case176", stateless: false, build: |dev| of::<Case176Builder>(dev, plain_176) },
    Case { name: "Case177", stateless: false, build: |dev| of::<Case177Builder>(dev, plain_177) },
    Case { name: "Case178", stateless: false, build: |dev| of::<Case178Builder>(dev, plain_178) },
    Case { name: "Case179", stateless: false, build: |dev| of::<Case179Builder>(dev, plain_179) },
    Case { name: "Case180", stateless: false, build: |dev| of::<Case180Builder>(dev, plain_180) },
    Case { name: "Case181", stateless: false, build: |dev| of::<Case181>(dev, plain_181) },
    Case { name: "Case182", stateless: false, build: |dev| of::<Case182Builder>(dev, plain_182) },
    Case { name: "Case183", stateless: false, build: |dev| of::<Case183Builder>(dev, plain_183) },
    Case { name: "Case184", stateless: false, build: |dev| of::<Case184Builder>(dev, plain_184) },
    Case { name: "Case185", stateless: false, build: |dev| of::<Case185Builder>(dev, plain_185) },
    Case { name: "Case186", stateless: true, build: |dev| of::<Case186Builder>(dev, plain_186) },
    Case { name: "Case187", stateless: false, build: |dev| of::<Case187Builder>(dev, plain_187) },
    Case { name: "Case188", stateless: true, build: |dev| of::<Case188>(dev, plain_188) },
    Case { name: "Case189", stateless: false, build: |dev| of::<Case189Builder>(dev, plain_189) },
    Case { name: "Case190", stateless: false, build: |dev| of::<Case190Builder>(dev, plain_190) },
    Case { name: "Case191", stateless: false, build: |dev| of::<Case191Builder>(dev, plain_191) },
    Case { name: "Case192", stateless: false, build: |dev| of::<Case192Builder>(dev, plain_192) },
    Case { name: "Case193", stateless: true, build: |dev| of::<Case193Builder>(dev, plain_193) },
    Case { name: "Case194", stateless: false, build: |dev| of::<Case194Builder>(dev, plain_194) },
    Case { name: "Case195", stateless: false, build: |dev| of::<Case195>(dev, plain_195) },
    Case { name: "Case196", stateless: false, build: |dev| of::<Case196Builder>(dev, plain_196) },
    Case { name: "Case197", stateless: false, build: |dev| of::<Case197Builder>(dev, plain_197) },
    Case { name: "Case198", stateless: true, build: |dev| of::<Case198Builder>(dev, plain_198) },
    Case { name: "Case199", stateless: true, build: |dev| of::<Case199Builder>(dev, plain_199) },
    Case { name: "Case200", stateless: false, build: |dev| of::<Case200Builder>(dev, plain_200) },
    Case { name: "Case201", stateless: false, build: |dev| of::<Case201Builder>(dev, plain_201) },
    Case { name: "Case202", stateless: false, build: |dev| of::<Case202>(dev, plain_202) },
    Case { name: "Case203", stateless: false, build: |dev| of::<Case203Builder>(dev, plain_203) },
    Case { name: "Case204", stateless: false, build: |dev| of::<Case204Builder>(dev, plain_204) },
    Case { name: "Case205", stateless: false, build: |dev| of::<Case205Builder>(dev, plain_205) },
    Case { name: "Case206", stateless: true, build: |dev| of::<Case206Builder>(dev, plain_206) },
    Case { name: "Case207", stateless: false, build: |dev| of::<Case207Builder>(dev, plain_207) },
    Case { name: "Case208", stateless: false, build: |dev| of::<Case208Builder>(dev, plain_208) },
    Case { name: "Case209", stateless: true, build: |dev| of::<Case209>(dev, plain_209) },
];
