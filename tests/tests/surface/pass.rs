//! What is near to a mistake but right: `ui/pass`, compiled and run here, where it costs no build of
//! its own.

#[path = "../../ui/pass/neighbours.rs"]
mod neighbours;

#[test]
fn the_neighbours_of_mistakes_are_accepted() {
    neighbours::main();
}
