// The tokens that jobs fill in the label of their step.

/** `{{matrix}}`, or `{{matrix.os}}` with the name of the dimension. */
export const MATRIX_TOKEN = /\{\{\s*matrix(?:\.([A-Za-z0-9_]+))?\s*\}\}/g

/** `%n` (from 0), `%N` (from 1), and `%t` or `%T` (how many). */
export const PARALLEL_TOKEN = /%[nNtT]/g

/** Has no groups, so that a text can be split by it. */
export const ANY_TOKEN = /\{\{\s*matrix(?:\.[A-Za-z0-9_]+)?\s*\}\}|%[nNtT]/g
