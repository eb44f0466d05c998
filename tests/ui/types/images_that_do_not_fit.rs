//! Runs of image layers: the message names the layer and the channels, inside of a run as well.
use ckpt_runtime::prelude::*;

type Inside = nn::Fused<(nn::Conv2d<3, 8, 3>, nn::BatchNorm2d<16>, nn::Relu)>;
type First = nn::Exact<nn::Conv2d<4, 8, 3>>;
type Shortcut = nn::ResidualAct<(nn::Conv2d<3, 8, 3, 1, 1>, nn::BatchNorm2d<8>)>;
type Level = nn::UpBlock<(nn::Conv2d<6, 8, 3, 1, 1>, nn::BatchNorm2d<9>)>;

fn main() {
    let dev: Cpu = Default::default();
    let x: Tensor<Rank4<2, 3, 8, 8>, f32, _> = dev.zeros();
    let _ = dev.build_module::<Inside, f32>().forward(x.clone());
    let _ = dev.build_module::<First, f32>().forward(x.clone());
    let _ = dev.build_module::<Shortcut, f32>().forward(x.clone());
    let _ = dev.build_module::<Level, f32>().forward((x.clone(), x));
    let rows: Tensor<Rank2<3, 8>, f32, _> = dev.zeros();
    let _ = dev.build_module::<nn::Conv2d<3, 8, 3>, f32>().forward(rows);
}
