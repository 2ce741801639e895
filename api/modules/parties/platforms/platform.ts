// The platform itself: what its invoices look like and what its catalog falls back to, in TEST and LIVE apart.
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, readOnly } from '../../../resource/define-resource.ts'
import {
  Currency,
  Description,
  IdText,
  Nullable,
  OneOf,
  Reference,
  TaxCategory,
  TimeZone,
} from '../../../resource/shapes.ts'
import { billingEntityResource } from '../billing-entities/billing-entity.ts'
import { saveBrandingHistory } from './branding-history.ts'
import { checkFeedSettings, ExchangeRateSettings, ExchangeRateStatus } from './exchange-rate-settings.ts'
import { extraOpenFault, numberFault } from './invoice-settings.ts'
import { checkLogo } from './logo.ts'
import { checkNumberFields, saveNumberFieldUses } from './number-fields.ts'
import {
  ApiSettings,
  Branding,
  IngestSettings,
  InvoiceSettings,
  LATE_EVENT_POLICIES,
  ProcessingSettings,
  ReprocessingSettings,
  RoundingSettings,
} from './schema.ts'
import { checkSubscriptionSettings, SubscriptionSettings } from './subscription-settings.ts'
import { type Platform, platforms } from './table.ts'

export const platformResource = defineResource<Platform>({
  objectType: 'PLATFORM',
  shapeName: 'Platform',
  idPrefix: 'plat',
  path: 'platforms',
  table: platforms,
  fields: {
    reference: field(Reference),
    name: readOnly(Type.String()),
    description: field(Description),
    status: readOnly(Type.String()),
    timezone: field(TimeZone),
    default_billing_entity_id: field(IdText('billing entity')),
    default_product_tax_category: field(TaxCategory),
    default_pricing_currency: field(Currency),
    branding: field(Branding),
    invoice_settings: field(InvoiceSettings),
    ingest_settings: field(IngestSettings),
    api_settings: field(ApiSettings),
    rounding_settings: field(RoundingSettings),
    reprocessing_settings: field(ReprocessingSettings),
    processing_settings: field(ProcessingSettings),
    default_pricing_plan_subscription_settings: field(SubscriptionSettings),
    late_event_policy: field(OneOf(...LATE_EVENT_POLICIES)),
    exchange_rate_settings: field(ExchangeRateSettings),
    exchange_rate_status: readOnly(Nullable(ExchangeRateStatus)),
  },
  // A platform is made by the operator of the installation, never by a call of one of its own keys.
  operations: ['get', 'update'],
  byReference: false,
  expand: { default_billing_entity: { by: 'default_billing_entity_id', to: () => billingEntityResource } },
  references: { default_billing_entity_id: () => billingEntityResource },
  defaults: () => ({
    timezone: 'UTC',
    default_product_tax_category: 'STANDARD',
    branding: {},
    invoice_settings: {},
    ingest_settings: {},
    api_settings: {},
    rounding_settings: [],
    reprocessing_settings: {},
    processing_settings: {},
    default_pricing_plan_subscription_settings: {},
    late_event_policy: 'NEXT_INVOICE',
    exchange_rate_settings: {},
  }),
  // What another address gave says nothing of this one.
  resolve: (_uow, row, previous) =>
    previous && row.exchange_rate_settings.url !== previous.exchange_rate_settings.url
      ? { ...row, exchange_rate_status: null }
      : row,
  check: async (uow, row, previous) => {
    checkLogo(row.branding)
    checkFeedSettings(row.exchange_rate_settings)
    await checkSubscriptionSettings(uow, row, previous)
    const [first, second] = row.rounding_settings
    if (first && first.rounding_target === second?.rounding_target)
      throw new AppError('INVALID_FIELD', 'Say once for each target how it is rounded.', {
        field: 'rounding_settings.1.rounding_target',
      })
    const fault = numberFault(row.invoice_settings) ?? extraOpenFault(row.invoice_settings)
    if (fault) throw new AppError('INVALID_FIELD', fault.message, { field: `invoice_settings.${fault.field}` })
    await checkNumberFields(uow, row)
    const grace = row.invoice_settings.invoice_grace_period
    const field = 'invoice_settings.invoice_grace_period.configuration'
    if (grace?.type === 'CUSTOM' && !grace.configuration) {
      throw new AppError('MISSING_FIELD', 'A CUSTOM grace period needs its configuration.', { field })
    }
    if (grace?.type === 'DEFAULT' && grace.configuration) {
      throw new AppError('INVALID_FIELD', 'The DEFAULT grace period takes no configuration; use CUSTOM.', { field })
    }
  },
  afterSave: async (uow, row, previous) => {
    await saveNumberFieldUses(uow, row, previous)
    await saveBrandingHistory(uow, row, previous)
  },
  fixture: {
    create: () => Promise.reject(new Error('a platform is not created by a call')),
    update: { description: 'Metered inference.', invoice_settings: { footnote: 'Thank you.' } },
  },
})
