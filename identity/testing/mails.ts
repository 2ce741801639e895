// The mails of a rig, sent when the test says so and read where they arrive.

import type { PlainLetter } from '../../shared/mail/transport.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { sendDueMails } from '../mail/mailer.ts'
import { type IdentityRig, TEST_IDENTITY_URL } from './identity-rig.ts'

/** Sends what is due and gives it. */
export async function mailsOf(rig: IdentityRig): Promise<PlainLetter[]> {
  const letters: PlainLetter[] = []
  const transport = {
    send: async (letter: PlainLetter) => {
      letters.push(letter)
      return 0
    },
    close: () => undefined,
  }
  await sendDueMails({ database: rig.database, transport, identityUrl: TEST_IDENTITY_URL, logger: silentLogger })
  return letters
}

/** The address in a letter that leads to `path`, without our own origin; an empty text when it has none. */
export const linkIn = (letter: PlainLetter | undefined, path: string): string =>
  letter?.text
    .split('\n')
    .find(line => line.startsWith(`${TEST_IDENTITY_URL}${path}?token=`))
    ?.slice(TEST_IDENTITY_URL.length) ?? ''

/** The secret of a link. */
export const tokenIn = (link: string): string => new URL(link, TEST_IDENTITY_URL).searchParams.get('token') ?? ''

/** Invites somebody to a platform's LIVE, as the api does; gives the invitation's id. */
export async function invite(
  rig: IdentityRig,
  email: string,
  options: { readonly platformId?: string; readonly environment?: string; readonly invitedBy?: string | null } = {},
): Promise<string> {
  const { platformId = rig.platforms[0].id, environment = 'LIVE', invitedBy = null } = options
  const [{ number } = {}] = await rig.sql('select count(*)::int as number from user_invitations')
  await rig.sql(
    `insert into users (id, username, status) values ($1, $2, 'INVITED') on conflict (username) do nothing`,
    [`user_of_${email}`, email],
  )
  const [{ id: userId } = {}] = await rig.sql('select id from users where username = $1', [email])
  await rig.sql(
    `insert into user_memberships (platform_id, environment, id, user_id, role_ids, status)
     values ($1, $2, $3, $4, '{role_viewer}', 'INVITED') on conflict (platform_id, environment, user_id) do nothing`,
    [platformId, environment, `memb_${number}`, userId],
  )
  await rig.sql(
    'insert into user_invitations (platform_id, environment, id, user_id, invited_by) values ($1, $2, $3, $4, $5)',
    [platformId, environment, `invt_${number}`, userId, invitedBy],
  )
  return `invt_${number}`
}
