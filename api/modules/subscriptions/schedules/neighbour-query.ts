// Query parameters by which a call moves the boundary of a schedule beside the one it is about.
import Type, { type Static } from 'typebox'
import { ExpandQuery } from '../../../resource/routes/list-routes.ts'
import { Shape } from '../../../resource/shapes.ts'
import type { Neighbours } from './schedule-commands.ts'

export const NeighbourQuery = Shape({
  set_previous_end_at: Type.Optional(
    Type.Enum(['true', 'false'], { description: 'End the schedule before this one at its start.' }),
  ),
  set_next_start_at: Type.Optional(
    Type.Enum(['true', 'false'], {
      description: 'Start the schedule after this one at its end, as long as it has not begun.',
    }),
  ),
  ...ExpandQuery,
})
export const neighboursOf = (query: Static<typeof NeighbourQuery>): Neighbours => ({
  setPreviousEndAt: query.set_previous_end_at === 'true',
  setNextStartAt: query.set_next_start_at === 'true',
})
