// What a platform's invoice settings mean, with the defaults for what is not set. Pure.
import {
  DEFAULT_NUMBER_CONFIGURATIONS,
  type NumberConfiguration,
  type NumberFault,
  type NumberSeries,
  numberConfigurationFault,
} from '../../../../shared/billing/numbering.ts'
import type { InvoiceSettings } from './schema.ts'

type WireNumberConfiguration = InvoiceSettings['invoice_number_configuration']

/** The configuration a series is numbered by: what the platform set, over the defaults of semantics 5.2. */
export function numberConfigurationOf(given: WireNumberConfiguration, series: NumberSeries): NumberConfiguration {
  const standard = DEFAULT_NUMBER_CONFIGURATIONS[series]
  const reset = given?.reset_period
  return {
    prefix: given?.prefix ?? standard.prefix,
    dynamicPrefix: given?.dynamic_prefix ?? standard.dynamicPrefix,
    separator: given?.separator ?? standard.separator,
    firstNumber: given?.first_number ?? standard.firstNumber,
    incrementBy: given?.increment_by ?? standard.incrementBy,
    minimumNumberOfDigits: given?.minimum_number_of_digits ?? standard.minimumNumberOfDigits,
    resetPeriod: reset ? { type: reset.type, month: reset.month ?? 'JANUARY' } : standard.resetPeriod,
  }
}

/** What is wrong with a number configuration as it would act, or null. `field` is inside the configuration. */
export function wireNumberFault(given: WireNumberConfiguration, series: NumberSeries): NumberFault | null {
  return numberConfigurationFault(numberConfigurationOf(given, series))
}

export type Grace = { readonly value: number; readonly type: 'HOUR' | 'DAY' }
/** How long an invoice stays DRAFT before it becomes FINAL by itself (semantics 5.1). */
export const DEFAULT_GRACE: Grace = { value: 8, type: 'HOUR' }

/** The grace period a platform set; 8 hours while it set none. */
export function graceOf(settings: InvoiceSettings): Grace {
  const grace = settings.invoice_grace_period
  return grace?.type === 'DEFAULT' ? DEFAULT_GRACE : (grace?.configuration ?? DEFAULT_GRACE)
}
