// Meters: which values and properties an event of one kind carries.
import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, LIFECYCLE_RULES } from '../../../resource/define-resource.ts'
import {
  Description,
  IdText,
  Included,
  LifecycleStatus,
  Name,
  Nullable,
  Optional,
  Reference,
  Shape,
} from '../../../resource/shapes.ts'
import { resolveEntries } from './meter-entries.ts'
import { meterPropertyResource } from './meter-property.ts'
import { meterValueResource } from './meter-value.ts'
import { type Meter, meters } from './table.ts'

export const ENTRIES_MAX = 100

const Entries = (names: string) =>
  Type.Array(
    Shape({
      id: Optional(IdText(names)),
      reference: Optional(Reference),
      required: Optional(Type.Boolean()),
      object: Optional(Nullable(Included('MeterValue', 'MeterProperty'))),
    }),
    { maxItems: ENTRIES_MAX },
  )

export const meterResource = defineResource<Meter>({
  objectType: 'METER',
  shapeName: 'Meter',
  idPrefix: 'metr',
  path: 'meters',
  table: meters,
  fields: {
    reference: field(Reference, { create: 'required', change: 'draft' }),
    name: field(Name),
    description: field(Description),
    status: field(LifecycleStatus),
    meter_values: field(Entries('meter value')),
    meter_properties: field(Entries('meter property')),
  },
  operations: ['create', 'list', 'get', 'update', 'delete'],
  byReference: true,
  statuses: LIFECYCLE_RULES,
  paged: false,
  expand: {
    'meter_values.object': { by: 'id', to: () => meterValueResource, within: 'meter_values', member: 'object' },
    'meter_properties.object': {
      by: 'id',
      to: () => meterPropertyResource,
      within: 'meter_properties',
      member: 'object',
    },
  },
  defaults: () => ({ meter_values: [], meter_properties: [] }),
  resolve: async (uow, row) => ({
    ...row,
    meter_values: await resolveEntries(uow, 'meter_values', row.meter_values ?? []),
    meter_properties: await resolveEntries(uow, 'meter_properties', row.meter_properties ?? []),
  }),
  check: (_uow, row, previous) => {
    if (!previous || previous.status === 'DRAFT') return
    // Prices and stored events rest on what a live meter carries, so it may gain entries but not lose or change one.
    for (const list of ['meter_values', 'meter_properties'] as const) {
      const lost = previous[list].find(entry => !row[list].some(kept => isDeepStrictEqual(kept, entry)))
      if (lost) {
        throw new AppError(
          'INVALID_FIELD',
          `${lost.reference} cannot be removed or changed on a meter that is ${previous.status}.`,
          {
            field: list,
          },
        )
      }
    }
  },
  fixture: {
    create: async seed => {
      const value = await seed.make(meterValueResource)
      const property = await seed.make(meterPropertyResource)
      return {
        reference: seed.unique('inference'),
        name: seed.unique('Inference'),
        status: 'ACTIVE',
        meter_values: [{ id: value.id, required: true }],
        meter_properties: [{ id: property.id }],
      }
    },
    update: { description: 'One event a request.' },
  },
})
