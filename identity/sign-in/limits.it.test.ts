// The limits of signing in: ten tries a quarter of an hour for an account, each wait longer than the last, fifty failures from
// one address, and nobody kept out of their own account by others.
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createUser } from '../../shared/access/create-platform.ts'
import { hashPassword } from '../../shared/access/password.ts'
import { runMaintenance } from '../maintenance.ts'
import { type Browser, openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'

let rig: IdentityRig
beforeEach(async () => {
  await rig?.close()
  rig = await startIdentity()
})
afterAll(() => rig?.close())

async function tries(
  email: string,
  password: string,
  browser: Browser = openBrowser(rig.app),
): Promise<LightMyRequestResponse> {
  await browser.get('/sign-in')
  return await browser.submit('/sign-in', { email, password })
}
const shown = (answer: LightMyRequestResponse, email: string) => ({
  status: answer.statusCode,
  wait: answer.headers['retry-after'],
  body: answer.body.replace(/name="csrf" value="[^"]*"/, '').replaceAll(email, 'EMAIL'),
})

test('after ten wrong passwords the right one has to wait too, and is taken when the wait is over', async () => {
  await rig.stopClock()
  const waits: number[] = []
  for (let wrong = 0; wrong < 10; ) {
    const answer = await tries(rig.user.email, 'wrong')
    if (answer.statusCode === 401) wrong += 1
    else {
      expect(answer.statusCode).toBe(429)
      waits.push(Number(answer.headers['retry-after']))
      await rig.advance(waits.at(-1) ?? 0)
    }
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32])
  const refused = await tries(rig.user.email, rig.user.password)
  expect(refused.statusCode).toBe(429)
  const wait = Number(refused.headers['retry-after'])
  expect(wait).toBeGreaterThan(800)
  await rig.advance(wait)
  expect((await tries(rig.user.email, rig.user.password)).statusCode).toBe(303)
})

test('tries made at once are counted one by one: no more than the free ones are looked at', async () => {
  await rig.stopClock()
  const answers = await Promise.all(Array.from({ length: 45 }, () => tries(rig.user.email, 'wrong')))
  const statuses = answers.map(answer => answer.statusCode)
  expect(statuses.filter(status => status === 401).length).toBe(4)
  expect(statuses.filter(status => status === 429).length).toBe(41)
})

test('an account that does not exist is limited in the same steps and the same bytes', async () => {
  await rig.stopClock()
  const seen = []
  for (const email of [rig.user.email, 'nobody@example.com']) {
    const answers = []
    for (let index = 0; index < 6; index += 1) answers.push(shown(await tries(email, 'wrong'), email))
    seen.push(answers)
  }
  expect(seen[0]?.map(answer => answer.status)).toEqual([401, 401, 401, 401, 429, 429])
  expect(seen[1]).toEqual(seen[0])
})

test('however an e-mail is spelled, it is one account', async () => {
  await rig.stopClock()
  const { email } = rig.user
  const spellings = [email, email.toUpperCase(), ` ${email}`, `${email}\t`]
  for (const spelling of spellings) expect((await tries(spelling, 'wrong')).statusCode).toBe(401)
  expect((await tries(email, 'wrong')).statusCode).toBe(429)
})

test('a browser that signed in before is not slowed by what strangers try', async () => {
  await rig.stopClock()
  const mine = openBrowser(rig.app)
  expect((await tries(rig.user.email, rig.user.password, mine)).statusCode).toBe(303)
  await mine.get('/')
  await mine.submit('/sign-out', {})
  for (let index = 0; index < 6; index += 1) await tries(rig.user.email, 'wrong')
  expect((await tries(rig.user.email, rig.user.password)).statusCode).toBe(429)
  expect((await tries(rig.user.email, rig.user.password, mine)).statusCode).toBe(303)
})

test('the mark of a known browser is worth nothing for another account, or when it was changed', async () => {
  await rig.stopClock()
  const mine = openBrowser(rig.app)
  await tries(rig.user.email, rig.user.password, mine)
  const mark = mine.cookies.get('__Host-known') ?? ''
  expect(mark).toMatch(/^[\w-]{22}\.[\w-]{43}$/)
  const other = await createUser(rig.databaseUrl, 'grace@example.com', [rig.platforms[0].id])
  for (let index = 0; index < 5; index += 1) await tries(other.email, 'wrong')
  expect((await tries(other.email, other.password, mine)).statusCode).toBe(429)
  for (let index = 0; index < 5; index += 1) await tries(rig.user.email, 'wrong')
  const forger = openBrowser(rig.app)
  forger.cookies.set('__Host-known', `${mark.startsWith('A') ? 'B' : 'A'}${mark.slice(1)}`)
  expect((await tries(rig.user.email, rig.user.password, forger)).statusCode).toBe(429)
})

test('fifty failures from one address stop it, for every account, and signing in well costs nothing', async () => {
  for (let index = 0; index < 60; index += 1) {
    expect((await tries(rig.user.email, rig.user.password)).statusCode).toBe(303)
  }
  for (let index = 0; index < 50; index += 1) await tries(`guess-${index}@example.com`, 'wrong')
  const known = await tries(rig.user.email, rig.user.password)
  const unknown = await tries('nobody@example.com', 'wrong')
  expect(known.statusCode).toBe(429)
  expect(Number(known.headers['retry-after'])).toBeGreaterThan(0)
  expect(shown(unknown, 'nobody@example.com').body).toBe(shown(known, rig.user.email).body)
})

test('what is kept of tries names nobody, and is forgotten', async () => {
  await tries('someone@example.com', 'a secret typed by mistake')
  const kept = JSON.stringify(await rig.sql('select * from sign_in_tries'))
  expect(kept).not.toContain('someone')
  expect(kept).not.toContain('mistake')
  await rig.advance(25 * 3600)
  await runMaintenance(rig.database, rig.keystore)
  expect(await rig.sql('select * from sign_in_tries')).toEqual([])
})

test('a try that the machine was too busy for is not counted', async () => {
  let flooding = true
  const flood = Array.from({ length: 80 }, async () => {
    while (flooding) await hashPassword('somebody else').catch(() => new Promise(resolve => setImmediate(resolve)))
  })
  const statuses: number[] = []
  while (!statuses.includes(503) && statuses.length < 50) {
    statuses.push((await tries(`busy-${statuses.length}@example.com`, 'wrong')).statusCode)
  }
  flooding = false
  await Promise.all(flood)
  expect(statuses).toContain(503)
  const [{ counted } = {}] = await rig.sql('select sum(cardinality(tries))::int as counted from sign_in_tries')
  expect(counted ?? 0).toBe(statuses.filter(status => status === 401).length)
})

test('a session from before a sign-in does not outlive it', async () => {
  const browser = openBrowser(rig.app)
  await tries(rig.user.email, rig.user.password, browser)
  const before = browser.cookies.get('__Host-sid') ?? ''
  await tries(rig.user.email, rig.user.password, browser)
  expect(browser.cookies.get('__Host-sid')).not.toBe(before)
  expect((await browser.get('/')).statusCode).toBe(200)
  const thief = openBrowser(rig.app)
  thief.cookies.set('__Host-sid', before)
  expect((await thief.get('/')).statusCode).toBe(303)
})

test.each([
  ['320 characters', 'x'.repeat(320)],
  ['quotes', "' or 1=1 --"],
])('an e-mail with %s is nobody’s', async (_name, email) => {
  expect((await tries(email, 'wrong')).statusCode).toBe(401)
})

test('an e-mail with NUL in it is refused', async () => {
  expect((await tries('a\u0000b@example.com', 'wrong')).statusCode).toBe(400)
})
