//! The kinds of fault that other systems had, where it takes a macro to have them. Each test is
//! named after its kind.
