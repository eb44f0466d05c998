//! What a dfdx user writes and the macros must take as it is: `ui/pass`, a file each, with much that
//! only looks like a mistake among them.
//!
//! trybuild would link and run each file as a program of its own, which takes minutes. Here all
//! are modules of one program, which is compiled once and in which each runs as a test; that none
//! is left out, the first test says. That the macros report nothing, even where the compiler would not
//! mind, is held in `ckpt-macros`, which expands the same files.

#![allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    dead_code,
    unexpected_cfgs,
    clippy::all,
    clippy::pedantic,
    clippy::nursery
)]

use std::{collections::BTreeSet, fs, path::Path};

macro_rules! accepted {
    ($($path:literal $name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[path = $path]
            mod $name;
        )*
        mod runs {
            $(
                #[test]
                fn $name() {
                    super::$name::main();
                }
            )*
        }
    };
}

accepted! {
    "../../ui/pass/aliased_imports.rs" aliased_imports
    "../../ui/pass/associated_items.rs" associated_items
    "../../ui/pass/attributes_and_docs.rs" attributes_and_docs
    "../../ui/pass/cells_of_its_own.rs" cells_of_its_own
    "../../ui/pass/closures.rs" closures
    "../../ui/pass/conditional_fields.rs" conditional_fields
    "../../ui/pass/const_generics.rs" const_generics
    "../../ui/pass/declared_by_a_macro.rs" declared_by_a_macro
    "../../ui/pass/early_returns_in_helpers.rs" early_returns_in_helpers
    "../../ui/pass/exceptions.rs" exceptions
    "../../ui/pass/first_pass_effects.rs" first_pass_effects
    "../../ui/pass/functions.rs" functions
    "../../ui/pass/generic_children.rs" generic_children
    "../../ui/pass/held_policies.rs" held_policies
    "../../ui/pass/images.rs" images
    "../../ui/pass/impl_trait_arguments.rs" impl_trait_arguments
    "../../ui/pass/layers_with_state.rs" layers_with_state
    "../../ui/pass/look_alike_fields.rs" look_alike_fields
    "../../ui/pass/look_alike_maps.rs" look_alike_maps
    "../../ui/pass/look_alike_modules.rs" look_alike_modules
    "../../ui/pass/look_alike_strings.rs" look_alike_strings
    "../../ui/pass/loops_over_blocks.rs" loops_over_blocks
    "../../ui/pass/macros_in_a_forward.rs" macros_in_a_forward
    "../../ui/pass/neighbours.rs" neighbours
    "../../ui/pass/nested_modules.rs" nested_modules
    "../../ui/pass/numbers_and_locals.rs" numbers_and_locals
    "../../ui/pass/options_vecs_arrays.rs" options_vecs_arrays
    "../../ui/pass/parameters_and_buffers.rs" parameters_and_buffers
    "../../ui/pass/pattern_matching.rs" pattern_matching
    "../../ui/pass/raw_identifiers.rs" raw_identifiers
    "../../ui/pass/regions_in_loops.rs" regions_in_loops
    "../../ui/pass/regions_in_regions.rs" regions_in_regions
    "../../ui/pass/renamed_generics.rs" renamed_generics
    "../../ui/pass/result_forwards.rs" result_forwards
    "../../ui/pass/sequence_as_a_struct.rs" sequence_as_a_struct
    "../../ui/pass/sequence_as_an_expression.rs" sequence_as_an_expression
    "../../ui/pass/sequences_as_types.rs" sequences_as_types
    "../../ui/pass/several_impls.rs" several_impls
    "../../ui/pass/shadowing.rs" shadowing
    "../../ui/pass/shared_layers.rs" shared_layers
    "../../ui/pass/single_calls.rs" single_calls
    "../../ui/pass/structs_of_tensors.rs" structs_of_tensors
    "../../ui/pass/tokens.rs" tokens
    "../../ui/pass/tuple_structs.rs" tuple_structs
    "../../ui/pass/tuples.rs" tuples
    "../../ui/pass/where_clauses.rs" where_clauses
}

#[test]
fn no_file_is_left_out() {
    let files: BTreeSet<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/pass"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(files, NAMES.iter().map(|name| (*name).to_owned()).collect());
    assert!(files.len() >= 30);
}
