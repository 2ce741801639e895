// Users with second factors, as tests need them.
import { generate } from 'otplib'
import { createUser } from '../../shared/access/create-platform.ts'
import { type Browser, openBrowser } from './browser.ts'
import type { IdentityRig } from './identity-rig.ts'

export type Person = { readonly email: string; readonly password: string }
/** Someone whose authenticator app is on. */
export type TwoStepPerson = Person & {
  /** In base32, as the app has it. */
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

let people = 0

/** A new user, an administrator of the first platform. */
export const newPerson = (rig: IdentityRig): Promise<Person> => {
  people += 1
  return createUser(rig.databaseUrl, `person${people}@example.com`, [rig.platforms[0].id])
}

/** A browser whose user has given the right password, wherever that led. */
export async function gavePassword(rig: IdentityRig, person: Person): Promise<Browser> {
  const browser = openBrowser(rig.app)
  await browser.get('/sign-in')
  await browser.submit('/sign-in', { email: person.email, password: person.password })
  return browser
}

/** The code an authenticator app shows, `steps` times 30 seconds from now by the clock of the tests. */
export async function codeOf(rig: IdentityRig, secret: string, steps = 0): Promise<string> {
  const [row] = await rig.sql('select extract(epoch from identity_now())::float8 as now')
  return await generate({ secret, epoch: Math.floor(Number(row?.['now'])) + steps * 30 })
}

/** Turns the authenticator app on in a browser that is signed in, and gives the key and the recovery codes. */
export async function turnOnAuthenticator(
  rig: IdentityRig,
  browser: Browser,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  await browser.get('/second-factor')
  await browser.submit('/second-factor/authenticator', {})
  const page = await browser.get('/second-factor/authenticator')
  const secret = (/<code class="key">([A-Z2-7 ]+)</.exec(page.body)?.[1] ?? '').replaceAll(' ', '')
  const done = await browser.submit('/second-factor/authenticator/confirm', { code: await codeOf(rig, secret) })
  if (done.statusCode >= 400) throw new Error(`the authenticator was not taken: ${done.statusCode}`)
  return { secret, recoveryCodes: recoveryCodesOn(done.body) }
}

/** The recovery codes that a page shows. */
export const recoveryCodesOn = (page: string): string[] =>
  [...page.matchAll(/<li><code>([0-9a-z-]+)</g)].map(([, code]) => code ?? '')

/** A new user who has just turned the authenticator app on, and the browser they did it in. */
export async function newTwoStepPerson(rig: IdentityRig): Promise<TwoStepPerson & { readonly browser: Browser }> {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  const made = await turnOnAuthenticator(rig, browser)
  // The code of the set-up is used up; the next test wants one that is not.
  await rig.advance(60)
  return { ...person, ...made, browser }
}
