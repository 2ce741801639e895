// What a platform's invoice settings mean, with the defaults for what is not set. Pure.
import {
  DEFAULT_NUMBER_CONFIGURATIONS,
  NUMBER_SERIES,
  type NumberConfiguration,
  type NumberFault,
  type NumberSeries,
  numberConfigurationFault,
} from '../../../../shared/billing/numbering/numbering.ts'
import type { InvoiceSettings } from './schema.ts'

type WireNumberConfiguration = InvoiceSettings['invoice_number_configuration']

/** Where the settings of a platform say how a series is numbered. */
export const SERIES_FIELDS = {
  STANDARD: 'invoice_number_configuration',
  CREDIT: 'credit_invoice_number_configuration',
  SELF_BILLING: 'self_billing_invoice_number_configuration',
  SELF_BILLING_CREDIT: 'self_billing_credit_invoice_number_configuration',
} as const satisfies Record<NumberSeries, keyof InvoiceSettings>

/** The configuration of a series, with its defaults. */
export const seriesOf = (settings: InvoiceSettings, series: NumberSeries): NumberConfiguration =>
  numberConfigurationOf(settings[SERIES_FIELDS[series]], series)

/**
 * What is wrong with the number configurations of a platform, or null; `field` is inside the settings. Two series that begin alike
 * could give two documents one number.
 */
export function numberFault(settings: InvoiceSettings): NumberFault | null {
  const seen = new Map<string, string>()
  for (const series of NUMBER_SERIES) {
    const name = SERIES_FIELDS[series]
    const fault = wireNumberFault(settings[name], series)
    if (fault) return { field: `${name}.${fault.field}`, message: fault.message }
    const { prefix, dynamicPrefix } = seriesOf(settings, series)
    const start = JSON.stringify([prefix, dynamicPrefix])
    const other = seen.get(start)
    if (other)
      return { field: `${name}.prefix`, message: `It is the prefix of ${other} too; give each series its own.` }
    seen.set(start, name)
  }
  return null
}

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

const EXTRA_OPEN_MAX: Readonly<Record<Grace['type'], number>> = { HOUR: 31 * 24, DAY: 31 }

/** What is wrong with the extra open period, or null; `field` is inside the settings. Longer than a month, nothing would be issued. */
export function extraOpenFault({ invoice_extra_open_period: extra }: InvoiceSettings): NumberFault | null {
  if (!extra || extra.value <= EXTRA_OPEN_MAX[extra.type]) return null
  const message = `An extra open period is at most 31 days; give ${EXTRA_OPEN_MAX[extra.type]} ${extra.type} or less.`
  return { field: 'invoice_extra_open_period.value', message }
}

/** The grace period a platform set; 8 hours while it set none. */
export function graceOf(settings: InvoiceSettings): Grace {
  const grace = settings.invoice_grace_period
  return grace?.type === 'DEFAULT' ? DEFAULT_GRACE : (grace?.configuration ?? DEFAULT_GRACE)
}
