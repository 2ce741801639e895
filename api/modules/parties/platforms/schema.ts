// Wire shapes of a platform's settings. Only settings that act are here; any other is refused by name.
import Type, { type Static } from 'typebox'
import { INVOICE_DATE_TYPES } from '../../../../shared/billing/invoice-dates/invoice-date.ts'
import { DYNAMIC_PREFIXES, RESET_MONTHS, RESET_TYPES } from '../../../../shared/billing/numbering/numbering.ts'
import { Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'

const COUNTER_MAX = 1_000_000_000_000
const GRACE_VALUE_MAX = 10_000

export const NumberConfiguration = Shape({
  prefix: Optional(Nullable(Type.String({ maxLength: 255 }))),
  dynamic_prefix: Optional(
    Nullable(Type.Array(OneOf(...DYNAMIC_PREFIXES), { maxItems: DYNAMIC_PREFIXES.length, uniqueItems: true })),
  ),
  separator: Optional(Nullable(Type.String({ maxLength: 3 }))),
  increment_by: Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  first_number: Optional(Nullable(Type.Integer({ minimum: 0, maximum: COUNTER_MAX }))),
  minimum_number_of_digits: Optional(Nullable(Type.Integer({ minimum: 1, maximum: 20 }))),
  reset_period: Optional(
    Nullable(Shape({ type: OneOf(...RESET_TYPES), month: Optional(Nullable(OneOf(...RESET_MONTHS))) })),
  ),
})

const GRACE_UNITS = ['HOUR', 'DAY'] as const
const Duration = Shape({ value: Type.Integer({ minimum: 0, maximum: GRACE_VALUE_MAX }), type: OneOf(...GRACE_UNITS) })
export const InvoiceGracePeriod = Shape({
  type: Optional(Nullable(OneOf('DEFAULT', 'CUSTOM'))),
  configuration: Optional(Nullable(Duration)),
})

export const InvoiceSettings = Shape({
  invoice_number_configuration: Optional(Nullable(NumberConfiguration)),
  credit_invoice_number_configuration: Optional(Nullable(NumberConfiguration)),
  self_billing_invoice_number_configuration: Optional(Nullable(NumberConfiguration)),
  self_billing_credit_invoice_number_configuration: Optional(Nullable(NumberConfiguration)),
  send_by_email: Optional(Nullable(Shape({ trigger_type: OneOf('MANUAL', 'AUTOMATIC') }))),
  invoice_date_determination_type: Optional(Nullable(OneOf(...INVOICE_DATE_TYPES))),
  invoice_grace_period: Optional(Nullable(InvoiceGracePeriod)),
  invoice_extra_open_period: Optional(Nullable(Duration)),
  footnote: Optional(Nullable(Type.String({ maxLength: 2_000 }))),
  add_zero_meter_value_invoice_lines: Optional(Nullable(Type.Boolean())),
})

const EVENTS_PER_SECOND_MAX = 100_000_000
const BATCH_LIMIT_MAX = 10_000
const REQUESTS_PER_SECOND_MAX = 10_000
const BURST_MAX = 100_000

/** What the gateways take from this platform in this environment; the installation's defaults for what is not set. */
export const IngestSettings = Shape({
  events_per_second: Optional(Nullable(Type.Integer({ minimum: 1, maximum: EVENTS_PER_SECOND_MAX }))),
  batch_limit: Optional(Nullable(Type.Integer({ minimum: 1, maximum: BATCH_LIMIT_MAX }))),
})

/** How often one credential of this platform may call the api in this environment; the installation's defaults for what is not set. */
export const ApiSettings = Shape({
  requests_per_second: Optional(Nullable(Type.Integer({ minimum: 1, maximum: REQUESTS_PER_SECOND_MAX }))),
  burst: Optional(Nullable(Type.Integer({ minimum: 1, maximum: BURST_MAX }))),
})

/** One of a target; a target without one is DEFAULT. */
export const RoundingSettings = Type.Array(
  Shape({ rounding_target: OneOf('INVOICE', 'COST_PREDICTION'), rounding_mode: OneOf('DEFAULT', 'UNROUNDED') }),
  { maxItems: 2 },
)

const DELAY_VALUE_MAX = 10_000

/** How long after a change, or a call, a reprocess starts. */
export const ReprocessingSettings = Shape({
  default_delay: Optional(
    Nullable(
      Shape({
        type: OneOf('SECOND', 'MINUTE', 'HOUR'),
        value: Type.Integer({ minimum: 0, maximum: DELAY_VALUE_MAX }),
      }),
    ),
  ),
})

const LOGO_BASE64_MAX = 400_000
const Color = Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', description: 'A colour, such as #0b6e4f.' })

/** How documents look. */
export const Branding = Shape({
  colors: Optional(Nullable(Shape({ primary: Optional(Nullable(Color)) }))),
  logo: Optional(
    Nullable(
      Shape({
        file_name: Optional(Nullable(Type.String({ maxLength: 255 }))),
        content_type: OneOf('image/png', 'image/jpeg'),
        content: Type.String({
          maxLength: LOGO_BASE64_MAX,
          contentEncoding: 'base64',
          description: 'The file as base64, at most 300,000 bytes.',
        }),
      }),
    ),
  ),
})

export const LATE_EVENT_POLICIES = ['NEXT_INVOICE', 'NOT_MATCHED', 'CREDIT_AND_REBILL'] as const

/** `late_event_policy` by another name: true is NEXT_INVOICE, false is NOT_MATCHED. */
export const ProcessingSettings = Shape({ put_after_invoice_final_on_next_invoice: Optional(Nullable(Type.Boolean())) })

/** What becomes of usage whose invoice is FINAL. */
export type LateEventPolicy = (typeof LATE_EVENT_POLICIES)[number]
export type ProcessingSettings = Static<typeof ProcessingSettings>
export type Branding = Static<typeof Branding>
export type InvoiceSettings = Static<typeof InvoiceSettings>
export type ApiSettings = Static<typeof ApiSettings>
export type IngestSettings = Static<typeof IngestSettings>
export type ReprocessingSettings = Static<typeof ReprocessingSettings>
export type RoundingSettings = Static<typeof RoundingSettings>
