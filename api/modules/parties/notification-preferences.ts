// What a customer or a contact gets, and how. What they do not say they get.
import Type, { type Static } from 'typebox'
import { OneOf, Shape } from '../../resource/shapes.ts'

const Channel = Shape({ type: OneOf('EMAIL'), enabled: Type.Boolean() }, { title: 'NotificationChannel' })

export const NotificationPreferences = Type.Array(
  Shape(
    { type: OneOf('INVOICE'), channels: Type.Array(Channel, { maxItems: 1 }) },
    { title: 'NotificationPreference' },
  ),
  { maxItems: 1 },
)
export type NotificationPreferences = Static<typeof NotificationPreferences>

/** Whether they get invoices by e-mail: unless that channel is disabled. */
export const wantsInvoices = (preferences: NotificationPreferences | null): boolean =>
  !(preferences ?? []).some(({ channels }) => channels.some(({ enabled }) => !enabled))
