// What mails say. Plain text only; the only addresses in it are our own.
import type { Environment } from '../../shared/tenant.ts'

export type Words = { readonly subject: string; readonly text: string }

const NAME_CHARACTERS_MAX = 80

/** What a user chose, on one line and without characters that hide or turn round others. */
const oneLine = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()

/** A name that a user chose, as it may stand in a mail: short, and nothing in it that a mail program makes a link of. */
export const plainName = (name: string): string =>
  [...oneLine(name)]
    .slice(0, NAME_CHARACTERS_MAX)
    .join('')
    .replace(/:\/+/g, ' ')
    .replace(/\.(?=\p{L}{2})/gu, '. ')

const letter = (subject: string, ...paragraphs: readonly string[]): Words => ({
  subject,
  text: `${paragraphs.join('\n\n')}\n`,
})

type Where = { readonly platformName: string; readonly environment: Environment; readonly invitedBy: string | null }
const askedIn = ({ platformName, environment, invitedBy }: Where): string =>
  `${invitedBy === null ? 'You have been invited' : `${oneLine(invitedBy)} invited you`} to “${plainName(platformName)}” (${environment}) on Millrace.`

/** To a person who has no account yet. */
export const invitationWords = (where: Where, link: string, days: number): Words =>
  letter(
    'Your invitation to Millrace',
    askedIn(where),
    `To accept, choose a password here within ${days} days; the link works once:`,
    link,
    'If you did not expect this, do nothing: without a password there is no account.',
  )

/** To a person who has one. */
export const invitationToKnownWords = (where: Where, identityUrl: string): Words =>
  letter(
    'Your invitation to Millrace',
    askedIn(where),
    'To accept, sign in with the account you have and choose Accept:',
    `${identityUrl}/`,
    'If you did not expect this, do nothing: you stay out until you accept.',
  )

export const passwordResetWords = (link: string, minutes: number): Words =>
  letter(
    'Your new password for Millrace',
    'A new password was requested for this e-mail address.',
    `To choose one, follow this link within ${minutes} minutes; it works once:`,
    link,
    'If it was not you, do nothing: your password stays what it is.',
  )

/** `appsEnded`: whether every connected application was disconnected with the change. */
export const passwordChangedWords = (identityUrl: string, appsEnded: boolean): Words =>
  letter(
    'Your password for Millrace was changed',
    'The password of your account was changed just now, and every other session was signed out.',
    'If it was not you, ask for a new one at once:',
    `${identityUrl}/forgot-password`,
    ...(appsEnded
      ? [
          'Every application you had connected was disconnected as well. Connect again those you use, from each application.',
        ]
      : ['Applications you connected keep their access; see and end it here:', `${identityUrl}/connected-apps`]),
  )

export const tokenReusedWords = (clientName: string, identityUrl: string): Words =>
  letter(
    'An application was disconnected from Millrace',
    `A key of the application “${plainName(clientName)}” was used twice, as happens when someone copied it. We ended the application's access to your account; nothing it holds works any more.`,
    'You can connect it again from the application itself. If you do not know it, look at what else is connected:',
    `${identityUrl}/connected-apps`,
  )

type WebhookFailure = {
  readonly platformName: string
  readonly environment: Environment
  readonly webhookName: string
  /** A sentence of our own. */
  readonly cause: string
}

/** To an administrator, about a webhook whose deliveries fail. */
export function webhookWords(kind: 'WEBHOOK_FAILING' | 'WEBHOOK_DISABLED', of: WebhookFailure): Words {
  const webhook = `The webhook “${plainName(of.webhookName)}” of “${plainName(of.platformName)}” (${of.environment})`
  const cause = `The last attempt failed: ${oneLine(of.cause)}`
  if (kind === 'WEBHOOK_DISABLED') {
    return letter(
      'A webhook was disabled',
      `${webhook} was disabled: 20 deliveries in a row failed.`,
      cause,
      'Events are no longer sent to it. When the endpoint works again, set active to true, and read what was missed from the lists of the API.',
    )
  }
  return letter(
    'A webhook is about to be disabled',
    `${webhook} has failed 16 times in a row. With 20 failures it is disabled, in about 34 hours.`,
    cause,
    'Events wait, in their order, until the endpoint answers 2XX within 10 seconds.',
  )
}

const FACTOR_CHANGES: Readonly<Record<string, string>> = {
  AUTHENTICATOR_ADDED: 'An authenticator app was set up for your account just now.',
  AUTHENTICATOR_REMOVED: 'The authenticator app of your account was removed just now.',
  PASSKEY_ADDED: 'A passkey was added to your account just now.',
  PASSKEY_REMOVED: 'A passkey of your account was removed just now.',
  RECOVERY_CODES_REPLACED: 'New recovery codes were made for your account just now; older ones no longer work.',
  SECOND_FACTOR_RESET:
    'An administrator of your platform removed the second factor of your account just now, with its recovery codes. Your password alone opens the account until you set up a new one.',
  SECOND_FACTOR_RESET_BY_OPERATOR:
    'The operator of this installation removed the second factor of your account just now, with its recovery codes. Your password alone opens the account until you set up a new one.',
}

/** Made by someone other than the user, in none of their sessions. */
const byOthers = (change: string): boolean => change.startsWith('SECOND_FACTOR_RESET')

export const factorChangedWords = (change: string, identityUrl: string): Words =>
  letter(
    'Your second factor for Millrace was changed',
    `${FACTOR_CHANGES[change] ?? 'Your second factor was changed just now.'} Every ${byOthers(change) ? '' : 'other '}session was signed out.`,
    byOthers(change)
      ? 'If you did not ask for this, choose a new password at once:'
      : 'If it was not you, choose a new password at once:',
    `${identityUrl}/forgot-password`,
    'Then sign in and see what there is:',
    `${identityUrl}/second-factor`,
  )
