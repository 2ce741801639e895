// Building blocks of wire shapes, shared by every resource: names as in the interface, bounds in one place.
import Type, { type TProperties, type TSchema } from 'typebox'
import Format from 'typebox/format'
import { localDate, zoneOf } from '../../shared/billing/local-days.ts'
import { isCountry, isCurrency } from '../../shared/codes/iso-codes.ts'
import { isPlainDecimal } from '../../shared/decimal.ts'
import { parseInstant } from '../../shared/time.ts'
import { maximumWhere } from '../http/body/conditions.ts'
import { withArticle } from './nouns.ts'

/** Registers the string formats the shapes use. Call once before the first schema is compiled. */
export function registerFormats(): void {
  Format.Set('date-time', text => parseInstant(text) !== null)
  Format.Set('date', text => localDate(text) !== null && text >= '1970' && text < '2200')
  Format.Set('decimal', isPlainDecimal)
  Format.Set('time-zone', text => zoneOf(text) !== null)
  Format.Set('currency', isCurrency)
  Format.Set('country', isCountry)
  Format.Set('email', text => EMAIL.test(text))
  Format.Set('reference', text => /^\S{1,255}$/.test(text) && !/^[a-z]{4}_[0-9A-Za-z]{22}$/.test(text))
}

/** ASCII alone: two addresses that look the same are the same. No character that means something in a mail's head. */
const EMAIL =
  /^ *[A-Za-z0-9.!#$%&*+/=?^_{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+ *$/

/** An object that refuses members it does not name. */
export const Shape = <P extends TProperties>(
  properties: P,
  options: { description?: string; title?: string; if?: object; then?: object } = {},
) => Type.Object(properties, { additionalProperties: false, ...options })
export const Optional = Type.Optional
/** Absent, null or a value: what PATCH clears with null. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
/** One of these texts; the static type is their union. */
export const OneOf = <T extends string[]>(...values: readonly [...T]) => Type.Enum<T>(values)

/** Which resources an object is, by the names of their shapes, until the API description refers to them. */
export const INCLUDES = 'x-includes'
/** What the API description says of an object that is sent as it was stored. */
export const DESCRIBED_AS = 'x-described-as'
/** An object that is sent as it was stored, with whatever members it has, and which ones a reader may expect. */
export const SentAsStored = <P extends TProperties>(members: P, described: TSchema) =>
  Type.Object(members, { additionalProperties: true, [DESCRIBED_AS]: described })

/** A resource inside another, as `expand[]` shows it: one of these shapes. Where it is sent back, it is not read. */
export const Included = (...shapes: readonly [string, ...string[]]) =>
  Type.Object({}, { additionalProperties: true, [INCLUDES]: shapes })

export const IdText = (names: string) =>
  Type.String({ minLength: 1, maxLength: 64, description: `Id of ${withArticle(names)}.` })
export const Reference = Type.String({
  format: 'reference',
  description:
    'Chosen by you, unique for its kind, without white space, 1 to 255 characters; not of the form of an id.',
})
export const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' })
export const Description = Type.String({ maxLength: 5_000 })
export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601 with an offset; answered in UTC, whole seconds.',
})
export const LocalDay = Type.String({ format: 'date', description: 'A day, such as 2026-01-31.' })
export const DecimalText = Type.String({
  format: 'decimal',
  description: 'A plain decimal: at most 26 digits before and 12 after the point.',
})
export const Currency = Type.String({ format: 'currency', description: 'ISO 4217 code, such as EUR.' })
export const Country = Type.String({ format: 'country', description: 'ISO 3166-1 alpha-2 code, such as NL.' })
export const TimeZone = Type.String({
  format: 'time-zone',
  maxLength: 64,
  description: 'IANA name of a time zone (Europe/Amsterdam), its abbreviation (CET), or an offset (GMT+01:00).',
})
export const Amount = Shape({ quantity: DecimalText, currency: Currency }, { title: 'Money' })
/** At most 100 years: no time after the year 2199 can be written. */
export const Period = Shape(
  { type: OneOf('DAY', 'WEEK', 'MONTH', 'YEAR'), value: Type.Integer({ minimum: 1, maximum: 1_000 }) },
  { title: 'BillingPeriod', ...maximumWhere({ where: { type: 'YEAR' }, maximum: { value: 100 } }) },
)
export const Address = Shape(
  {
    line1: Optional(Nullable(Type.String({ maxLength: 255 }))),
    line2: Optional(Nullable(Type.String({ maxLength: 255 }))),
    city: Optional(Nullable(Type.String({ maxLength: 255 }))),
    postal_code: Optional(Nullable(Type.String({ maxLength: 32 }))),
    state: Optional(Nullable(Type.String({ maxLength: 64 }))),
    country: Optional(Nullable(Country)),
  },
  { title: 'Address' },
)
export const TaxCategory = OneOf('STANDARD', 'NO_TAX', 'EXEMPT')

/** DRAFT → ACTIVE → DEPRECATED → ARCHIVED, semantics 0.6. */
export const LIFECYCLE = ['DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED'] as const
export const LifecycleStatus = Type.Enum([...LIFECYCLE])

/** A lifecycle that can be interrupted: ACTIVE ⇄ INACTIVE, semantics 0.6. */
export const PAUSABLE = ['DRAFT', 'ACTIVE', 'INACTIVE', 'DEPRECATED', 'ARCHIVED'] as const
export const PausableStatus = Type.Enum([...PAUSABLE])

/** Lower comes first on invoices and in the catalog. */
export const DisplayOrder = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, description: 'Lowest first.' })
/** What an AI agent should know about the thing; stored and shown, nothing else. */
export const AgentContext = Shape(
  { guidance: Optional(Nullable(Type.String({ maxLength: 2_500 }))) },
  { title: 'AgentContext' },
)
