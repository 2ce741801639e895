// Nothing that opens a door is in the log: passwords, links, tokens, cookies, and who asked for what mail.
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { PlainLetter } from '../shared/mail/transport.ts'
import { createLogger } from '../shared/process/logger.ts'
import { sendDueMails } from './mail/mailer.ts'
import { openBrowser } from './testing/browser.ts'
import { startIdentity, TEST_IDENTITY_URL } from './testing/identity-rig.ts'
import { linkIn, tokenIn } from './testing/mails.ts'
import { registerClient } from './testing/oauth-client.ts'

test('a whole visit, a reset and a database that fails leave no secret in the log', async () => {
  const lines: string[] = []
  // The serializers of the real logger, into memory.
  const real = createLogger('identity', 'debug')
  const serializers = (real as unknown as Record<symbol, object>)[pino.symbols.serializersSym] as Record<string, never>
  const logger = pino({ level: 'debug', serializers }, { write: line => void lines.push(line) })
  const rig = await startIdentity({ logger })
  try {
    const secrets = new Set([rig.user.password, 'a wrong password', 'a new and rather long password'])
    const browser = openBrowser(rig.app)
    await browser.get('/sign-in')
    await browser.submit('/sign-in', { ...rig.user, password: 'a wrong password' })
    await browser.submit('/sign-in', rig.user)
    for (const cookie of browser.cookies.values()) secrets.add(cookie)
    const client = await registerClient(rig)
    const code = await client.code([`${rig.platforms[0].id}:LIVE`])
    const { access_token: access, refresh_token: refresh } = (await client.redeem(code)).json()
    for (const secret of [code, access, refresh, client.verifier]) secrets.add(secret)
    await browser.get('/forgot-password')
    await browser.submit('/forgot-password', { email: rig.user.email })
    const letters: PlainLetter[] = []
    const transport = {
      send: async (letter: PlainLetter) => {
        letters.push(letter)
        return 0
      },
      close: () => undefined,
    }
    await sendDueMails({ database: rig.database, transport, identityUrl: TEST_IDENTITY_URL, logger })
    const link = linkIn(letters[0], '/reset-password')
    secrets.add(tokenIn(link))
    await browser.get(link)
    await rig.sql('alter table users rename to users_away')
    const chosen = { new_password: 'a new and rather long password', repeated: 'a new and rather long password' }
    expect((await browser.submit('/reset-password', chosen)).statusCode).toBe(500)
    const other = openBrowser(rig.app)
    await other.get('/sign-in')
    expect((await other.submit('/sign-in', rig.user)).statusCode).toBe(500)
    await rig.sql('alter table users_away rename to users')
    await browser.get(link)
    await browser.submit('/reset-password', chosen)
    const log = lines.join('')
    expect(log).toContain('"url":"/reset-password"')
    expect(log).toContain('the request failed')
    for (const secret of secrets) {
      expect(log).not.toContain(secret)
      expect(log).not.toContain(encodeURIComponent(secret))
    }
    expect(log).not.toContain(rig.user.email)
    expect(log).not.toContain('$argon2id')
  } finally {
    await rig.close()
  }
})
