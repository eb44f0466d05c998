//! Clocks, the environment, threads and memory.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        #[checkpoint]
        let x = {
            std::time::Instant::now();
            SystemTime::now();
            Utc::now();
            Local::now();
            self.start.elapsed();
            std::env::var("A");
            env::var("A");
            env::var_os("A");
            env::vars();
            env::args();
            env::current_dir();
            std::thread::current().id();
            Rc::as_ptr(&self.table);
            Arc::as_ptr(&self.table);
            Rc::strong_count(&self.table);
            Arc::strong_count(&self.table);
            ptr::from_ref(&x);
            std::ptr::addr_of!(x);
            std::ptr::addr_of_mut!(x);
            addr_of!(x);
            addr_of_mut!(x);
            self.rows.as_ptr();
            self.rows.as_mut_ptr();
            let p = &x as *const _;
            let s = format!("{:p}", &x);
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
