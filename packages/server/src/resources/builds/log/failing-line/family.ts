// What the table of shapes consists of. Each file in families/ has the tools of one language or kind.

/** How surely a row is the one that a person would point at. */
export const weights = {
  /** It names the cause: the assertion, the line that does not compile. */
  cause: 8,
  /** The message of an exception that ended a program. */
  exception: 7,
  /** The name of a failed test, or a row near the cause. */
  symptom: 6,
  /** A row of any tool that begins with "error:" or the like. */
  complaint: 5,
  /** It counts failures or names what failed, without a cause. */
  summary: 4,
  /** A sentence with a word such as "failed". */
  mention: 3,
  /** A red row. */
  red: 2,
  /** It says only that another program failed. */
  epilogue: 1,
} as const

interface Shape {
  /** The row that begins a failure. */
  begins: RegExp
  /** The row that a person would point at, if it is a later one: the first that matches. */
  points?: RegExp
  /** How many rows later it may be. */
  within?: number
  /** The row is the first remembered one instead, if there is one. */
  pointsBack?: true
  weight: number
}

export interface Family {
  /** Unique; blocks are stored by it. */
  name: string
  /** The first that matches a row counts. */
  shapes: readonly Shape[]
  /** The tool's last word: it has failed. A failure after it is another block. */
  fails?: RegExp
  /** The tool's last word: it has passed, so what it said before ended no job. */
  passes?: RegExp
  /** Rows before a failure that may show its cause, and rows that begin another test. */
  remembers?: { cause: RegExp; forgets: RegExp }
  /** A failure so many rows after the last one is another block. Absent: never. */
  gap?: number
}
