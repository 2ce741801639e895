// A row of what a statement of figures answers.

/** What a row is of: figures of values, different values of a property, or marks. */
export const KINDS = { values: 0, distinct: 1, marks: 2 } as const
/** Different values of a group that are given; one more says that there are more. */
export const TEXTS_MAX = 1_000

/** A row of the answer; of what its kind does not have, '' or nothing. Sums that are compared wrap around. */
export type FigureRow = readonly [
  kind: number,
  key: string,
  meter: string,
  source: number,
  slot: string,
  subscription: string,
  view: number,
  /** '' for an absent property, else '=' and the value. */
  split: readonly string[],
  reference: string,
  code: string,
  count: string,
  total: string,
  lowest: string,
  highest: string,
  texts: readonly string[],
  /** Weighed sums: of marks, or, in the view 0, of what roll-ups cover. */
  first: string,
  second: string,
]
