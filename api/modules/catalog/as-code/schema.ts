// The catalog file and what is answered about it. Entries are checked by the shapes of their resources, when they are planned.
import Type, { type Static } from 'typebox'
import { Nullable, Optional, Reference, Shape } from '../../../resource/shapes.ts'
import { RateCardShape } from '../pricing-plans/schema.ts'
import { CurrencySettings, PeriodSettings } from '../pricing-plans/variants/settings.ts'
import { GateResult, RevenueLimits } from './revenue-gate.ts'
import { SECTION_NAMES, type Section } from './sections.ts'

const ENTRIES_MAX = 5_000
const VERSIONS_MAX = 1_000
const PRICINGS_MAX = 1_000
const GROUPS_MAX = 1_000

/** As the body that creates the resource, with references for ids. */
const Entry = Type.Object(
  { reference: Reference },
  { additionalProperties: true, title: 'CatalogEntry', description: 'An entry, named by its reference.' },
)
const Version = Shape(
  {
    version: Type.Integer({
      minimum: 1,
      description: 'The number of the version. A new one is higher than those there are.',
    }),
    status: Optional(
      Type.Enum(['DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED'], {
        description: 'Of a new version that says nothing: DRAFT.',
      }),
    ),
    rate_card: Optional(RateCardShape),
    pricing_currency_settings: Optional(CurrencySettings),
    billing_period_settings: Optional(PeriodSettings),
    pricing_groups: Optional(
      Type.Array(
        Type.Object(
          { name: Type.String({ description: 'What the pricings of the group call it in `pricing_group`.' }) },
          { additionalProperties: true },
        ),
        {
          maxItems: GROUPS_MAX,
          description: 'The pricing groups of the version, each with its own name. Left out: as they are.',
        },
      ),
    ),
    pricings: Optional(
      Type.Array(Type.Object({}, { additionalProperties: true }), {
        maxItems: PRICINGS_MAX,
        description: 'What the version prices, with references for ids. Left out: as it is.',
      }),
    ),
  },
  { title: 'CatalogVersion' },
)
const Plan = Type.Object(
  {
    reference: Reference,
    versions: Optional(
      Type.Array(Version, { maxItems: VERSIONS_MAX, description: 'Its versions, in the order of their numbers.' }),
    ),
  },
  { additionalProperties: true, title: 'CatalogPlan', description: 'A pricing plan with its versions.' },
)

const sectionShape = (section: Section) =>
  Type.Optional(
    Type.Array(section === 'pricing_plans' ? Plan : Entry, {
      maxItems: ENTRIES_MAX,
      description: `The ${section.replaceAll('_', ' ')} of the catalog. What is not listed stays as it is.`,
    }),
  )

/** The form of the file; a file of another form is refused. */
export const FORMAT = 1
export const CatalogFile = Shape(
  {
    format: Type.Literal(FORMAT, { description: 'The form of the file.' }),
    revenue_gate: Optional(RevenueLimits),
    ...Object.fromEntries(SECTION_NAMES.map(section => [section, sectionShape(section)])),
  },
  { title: 'CatalogFile' },
)

const Change = Type.Object(
  {
    action: Type.Enum(['CREATE', 'UPDATE'], { description: 'Whether the entry is new.' }),
    section: Type.String({ description: 'The section of the file.' }),
    reference: Type.String({ description: 'The entry, and of a version its number: `plan@2`.' }),
    differences: Type.Array(
      Type.Object(
        {
          field: Type.String({
            description:
              'The member that differs, by its path in the entry. A price goes by its product items: `items[a,b]`.',
          }),
          before: Type.Unknown({ description: 'What is there now. Null: nothing.' }),
          after: Type.Unknown({ description: 'What the file says. Null: nothing.' }),
        },
        { title: 'CatalogDifference' },
      ),
      { description: 'What becomes different.' },
    ),
  },
  { title: 'CatalogChange' },
)
const Refusal = Type.Object(
  {
    field: Type.String({ description: 'The path in the file.' }),
    code: Type.String({ description: 'The error code that apply would answer.' }),
    message: Type.String({ description: 'What to do.' }),
  },
  { title: 'CatalogRefusal' },
)
export const CatalogPlanned = Type.Object(
  {
    object_type: Type.Literal('CATALOG_PLAN'),
    applicable: Type.Boolean({ description: 'Whether apply would be done; otherwise see refusals.' }),
    changes: Type.Array(Change, { description: 'What would change. Empty: the catalog is as the file says.' }),
    refusals: Type.Array(Refusal, {
      description: 'Why apply would be refused, and which limits of the revenue gate do not hold.',
    }),
    revenue_gate: Nullable(GateResult),
  },
  { title: 'CatalogPlanned' },
)
export const CatalogApplied = Type.Object(
  {
    object_type: Type.Literal('CATALOG_APPLIED'),
    changes: Type.Array(Change, { description: 'What changed. Empty: the catalog was as the file says.' }),
  },
  { title: 'CatalogApplied' },
)

export type CatalogChange = Static<typeof Change>
export type CatalogRefusal = Static<typeof Refusal>
export type VersionEntry = Static<typeof Version>
/** An entry of a section, and of a plan its versions. */
export type CatalogEntry = Readonly<Record<string, unknown>> & {
  readonly reference: string
  readonly versions?: readonly VersionEntry[]
}
export type CatalogDocument = { readonly format: typeof FORMAT; readonly revenue_gate?: RevenueLimits } & {
  readonly [S in Section]?: readonly CatalogEntry[]
}
