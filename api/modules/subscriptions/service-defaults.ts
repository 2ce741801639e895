// What a subscription has where neither its body nor the platform says otherwise.
import type { Subscription } from './table.ts'

export const SERVICE_DEFAULTS: Readonly<Pick<Subscription, 'billing_period' | 'due_date_configuration'>> = {
  billing_period: { type: 'MONTH', value: 1 },
  due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 30 } },
}
