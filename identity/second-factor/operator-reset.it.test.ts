// The operator's way to take away a second factor, which is the only one for a member of several platforms.
import { execFile } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nodeArgs } from '../../infra/services/project.ts'
import { createUser } from '../../shared/access/create-platform.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'
import { mailsOf } from '../testing/mails.ts'
import {
  gavePassword,
  newPerson,
  newTwoStepPerson,
  type Person,
  turnOnAuthenticator,
} from '../testing/second-factor.ts'
import { findAccount, resetByOperator } from './operator-reset.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity()
})
afterAll(() => rig?.close())

const run = (...args: string[]) =>
  new Promise<{ code: number | null; output: string }>(resolve => {
    const env = { PATH: process.env['PATH'], DATABASE_URL: loginOf(rig.databaseUrl, 'millrace_identity') }
    const child = execFile('node', [...nodeArgs('infra/second-factor/main'), ...args], { env }, (_error, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    )
  })

const idOf = async (person: Person): Promise<string> => (await findAccount(rig.database, person.email))?.userId ?? ''
const factorsOf = async (person: Person) => {
  const account = await findAccount(rig.database, person.email)
  return [account?.authenticators, account?.passkeys]
}
const noticesOf = async (id: string) =>
  (
    await rig.sql(
      `select p.name || ' ' || o.environment as place, o.data from outbox o
       join platforms p on p.platform_id = o.platform_id and p.environment = o.environment
       where o.object_id = $1 and o.type = 'USER.SECOND_FACTOR_RESET' order by 1`,
      [id],
    )
  ).map(({ place, data }) => ({ place, data }))

/** An administrator of both platforms, signed in with an authenticator app. */
async function memberOfTwo(email: string) {
  const person = await createUser(rig.databaseUrl, email, [rig.platforms[0].id, rig.platforms[1].id])
  const browser = await gavePassword(rig, person)
  await turnOnAuthenticator(rig, browser)
  return { person, browser, id: await idOf(person) }
}

test('the command shows what the account opens, and removes its factors when it is given a reason', async () => {
  const { person, browser, id } = await memberOfTwo('ida@example.com')
  const shown = await run('  IDA@example.com ')
  expect([shown.code, shown.output]).toEqual([1, expect.stringContaining('run this again with --reason')])
  for (const place of ['Platform A, LIVE', 'Platform A, TEST', 'Platform B, LIVE', 'Platform B, TEST'])
    expect(shown.output).toContain(place)
  expect([await factorsOf(person), await noticesOf(id)]).toEqual([[1, 0], []])
  const done = await run(person.email, '--reason', 'Ticket 812, called back at the number we know')
  expect([done.code, done.output]).toEqual([0, expect.stringContaining('The second factor is removed')])
  expect(await factorsOf(person)).toEqual([0, 0])
  const data = {
    object_type: 'USER',
    id,
    second_factor_change: 'SECOND_FACTOR_RESET',
    reset_by: 'OPERATOR',
    reason: 'Ticket 812, called back at the number we know',
  }
  expect(await noticesOf(id)).toEqual(
    ['Platform A LIVE', 'Platform A TEST', 'Platform B LIVE', 'Platform B TEST'].map(place => ({ place, data })),
  )
  expect((await browser.get('/')).statusCode).toBe(303)
  expect((await (await gavePassword(rig, person)).get('/')).body).toContain(person.email)
  const mails = (await mailsOf(rig)).filter(({ to }) => to === person.email)
  expect(mails.at(-1)?.text).toContain('The operator of this installation removed the second factor')
  expect(mails.at(-1)?.text).toContain('Every session was signed out.')
  expect((await run(person.email, '--reason', 'again')).output).toContain('The user has no second factor')
})

test('the command does nothing for nobody, for no one person, or without words of its own', async () => {
  const { output: help } = await run('--help')
  const answers = await Promise.all([
    run('nobody@example.com', '--reason', 'x'),
    run(),
    run('one@example.com', 'two@example.com', '--reason', 'x'),
    run('one@example.com', '--reason', '  '),
    run('one@example.com', '--reason', 'x'.repeat(501)),
  ])
  expect(answers.map(({ code }) => code)).toEqual([1, 2, 2, 2, 2])
  expect(answers[0]?.output).toContain('No user has the e-mail address nobody@example.com')
  expect(answers[1]?.output).toBe(help)
  expect(answers[4]?.output).toContain('1 to 500 characters')
})

test('a user who is switched off, has no factor, or whose password is too short to stand alone is left as it is', async () => {
  const [off, bare, short] = [await newTwoStepPerson(rig), await newPerson(rig), await newTwoStepPerson(rig)]
  await rig.sql(`update users set status = 'INACTIVE' where username = $1`, [off.email])
  await rig.sql('update users set password_suffices_alone = false where username = $1', [short.email])
  for (const [person, outcome, factors] of [
    [off, 'NOT_ACTIVE', 1],
    [bare, 'NO_FACTOR', 0],
    [short, 'SHORT_PASSWORD', 1],
  ] as const) {
    const userId = await idOf(person)
    expect(await resetByOperator(rig.database, { userId, reason: 'x' })).toBe(outcome)
    expect([await factorsOf(person), await noticesOf(userId)]).toEqual([[factors, 0], []])
  }
})

test('of ten at once one is done and recorded, and a place that was left gets no record', async () => {
  const { person, id } = await memberOfTwo('joan@example.com')
  await rig.sql(`update user_memberships set status = 'INACTIVE' where user_id = $1 and environment = 'TEST'`, [id])
  await rig.sql('delete from user_memberships where user_id = $1 and platform_id = $2', [id, rig.platforms[1].id])
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, () => resetByOperator(rig.database, { userId: id, reason: 'x' })),
  )
  expect(outcomes.toSorted()).toEqual(['DONE', ...new Array(9).fill('NO_FACTOR')])
  expect((await noticesOf(id)).map(({ place }) => place)).toEqual(['Platform A LIVE', 'Platform A TEST'])
  expect((await mailsOf(rig)).filter(({ to, text }) => to === person.email && /operator/.test(text))).toHaveLength(1)
})
