// The wire shapes of file processing settings. What this release does not do is not in them, and so refused by name:
// custom fields, and the bucket that would have the service look for files by itself. A file names its own address (files/download).
import Type from 'typebox'
import { IdText, Nullable, Optional, Reference, Shape } from '../../../resource/shapes.ts'

const Column = Type.String({ minLength: 1, maxLength: 255, description: 'Name of a column, as in the header.' })
const Text = Type.String({ maxLength: 1_000 })
const MaybeColumn = Optional(Nullable(Column))
const ByName = (names: string) => ({ id: Optional(IdText(names)), reference: Optional(Reference) })

const DefaultValue = Shape({
  absent_column: Optional(Nullable(Text)),
  empty_field: Optional(Nullable(Text)),
})
const MaybeDefault = Optional(Nullable(DefaultValue))

const MeterPropertyMapping = Shape({
  ...ByName('meter property'),
  column: MaybeColumn,
  default_value: MaybeDefault,
})

const MeterValueMapping = Shape({
  ...ByName('meter value'),
  column: Optional(
    Nullable(
      Shape({
        number: MaybeColumn,
        amount: Optional(Nullable(Shape({ quantity: MaybeColumn, currency: MaybeColumn }))),
      }),
    ),
  ),
  default_value: Optional(
    Nullable(
      Shape({
        number: MaybeDefault,
        amount: Optional(Nullable(Shape({ quantity: MaybeDefault, currency: MaybeDefault }))),
      }),
    ),
  ),
})

const ENTRIES_MAX = 100
const COLUMN_VALUES_MAX = 1_000

const Mapping = Shape({
  column_values: Optional(Nullable(Type.Array(Text, { maxItems: COLUMN_VALUES_MAX }))),
  meter_reference_mapping: Shape({ ...ByName('meter'), column: Optional(Column) }),
  ingest_reference_mapping: Shape({ column: Column, prefix: Optional(Nullable(Shape({ column: Column }))) }),
  meter_property_mappings: Optional(Nullable(Type.Array(MeterPropertyMapping, { maxItems: ENTRIES_MAX }))),
  meter_value_mappings: Optional(Nullable(Type.Array(MeterValueMapping, { maxItems: ENTRIES_MAX }))),
})

export const MeterDataShape = Shape({
  mapping_column: MaybeColumn,
  mappings: Type.Array(Mapping, { minItems: 1, maxItems: ENTRIES_MAX }),
  customer_reference_mapping: Optional(Nullable(Shape({ column: Column }))),
})

export const CustomerNames = Type.Array(Shape(ByName('customer')), { maxItems: 1_000 })
