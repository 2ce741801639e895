// How many pricings of a group a schedule enables at any time.
import { OneOf } from '../../../resource/shapes.ts'

/** By constraint: the fewest and the most pricings that are enabled at once; null: as many as there are (semantics 3.1). */
export const SELECTION = {
  ANY: { least: 0, most: null },
  AT_LEAST_ONE: { least: 1, most: null },
  AT_MOST_ONE: { least: 0, most: 1 },
  EXACTLY_ONE: { least: 1, most: 1 },
} as const
export type SelectionConstraint = keyof typeof SELECTION

export const SelectionConstraintShape = OneOf('ANY', 'AT_LEAST_ONE', 'AT_MOST_ONE', 'EXACTLY_ONE')
