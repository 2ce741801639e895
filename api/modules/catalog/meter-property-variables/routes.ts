// The calls on variables that are more than the shared operations: creation with values, and the values themselves.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { idOf } from '../../../../shared/ids.ts'
import { PageOf, PageQuery } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { sliceOf, sliceView } from '../../../list/slice.ts'
import { IdText, Nullable, Optional, Reference, Shape, Timestamp } from '../../../resource/shapes.ts'
import { changeValues } from './change-values.ts'
import { createVariable } from './create-variable.ts'
import { listValues } from './list-values.ts'
import { meterPropertyVariableResource } from './variable.ts'
import { VALUES_MAX } from './variable-values.ts'

const PATH = '/v1/meter-property-variables'
const tag = meterPropertyVariableResource.path
// As long as a property value of an event may be. That a variable holds 10,000 different ones is checked where it is changed,
// since what is sent twice counts once.
const Values = Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 2 * VALUES_MAX })
const Given = Optional(Nullable(Values))

const CreateBody = Shape({
  reference: Optional(Nullable(Reference)),
  meter_property_id: Optional(Nullable(IdText('meter property'))),
  meter_property_reference: Optional(Nullable(Reference)),
  values: Given,
})
const ChangeBody = Shape({ add: Given, remove: Given })
const Outcome = Type.Object({
  added: Type.Array(Type.String()),
  removed: Type.Array(Type.String()),
  skipped: Type.Array(Type.String(), { description: 'Values that were already as the request wants them.' }),
})
const VariableValue = Type.Object({ value: Type.String(), added_at: Timestamp })

const Cursor = (description: string) => Optional(Type.String({ minLength: 1, maxLength: 1_000, description }))
const ValuesQuery = {
  ...PageQuery,
  starting_after: Cursor('The last value read: what follows it, in the order of the list. Instead of page.'),
  ending_before: Cursor('A value: what precedes it, in the order of the list. Instead of page.'),
}

export function meterPropertyVariableRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag,
    permission: 'METER_PROPERTY_VARIABLE.CREATE',
    summary: 'Create a list of values of a meter property, for conditions of prices to name.',
    method: 'POST',
    url: PATH,
    body: CreateBody,
    response: meterPropertyVariableResource.view,
    status: 201,
    handle: (uow, { body }) => createVariable(uow, body),
  })
  writeRoute(app, deps, {
    tag,
    permission: 'METER_PROPERTY_VARIABLE.UPDATE',
    summary:
      'Add and remove values as one change. The same request sent again is answered the same and changes nothing.',
    method: 'PATCH',
    url: `${PATH}/:id/values`,
    params: IdParams,
    body: ChangeBody,
    response: Outcome,
    status: 200,
    handle: (uow, { params, body }) => changeValues(uow, params.id, { add: body.add ?? [], remove: body.remove ?? [] }),
  })
  readRoute(app, deps, {
    tag,
    permission: 'METER_PROPERTY_VARIABLE.VIEW',
    summary: 'List the values of a variable, oldest first.',
    method: 'GET',
    url: `${PATH}/:id/values`,
    params: IdParams,
    query: Shape(ValuesQuery),
    response: PageOf(VariableValue),
    handle: async (uow, { params, query }) => {
      const slice = sliceOf(query)
      const sliced = await listValues(uow, idOf('mepv', params.id), slice)
      const data = sliced.rows.map(({ value, added_at }) => ({ value, added_at }))
      return sliceView(`${PATH}/${encodeURIComponent(params.id)}/values`, query, { slice, sliced, data })
    },
  })
}
