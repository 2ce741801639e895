// What a user meets whose second factor an administrator reset. Who may reset it:
// api/modules/accounts/users/reset-second-factor.it.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'
import { mailsOf } from '../testing/mails.ts'
import { codeOf, gavePassword, newTwoStepPerson, type Person, turnOnAuthenticator } from '../testing/second-factor.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity()
})
afterAll(() => rig?.close())

/** As the api does: as its own role, in the tenant LIVE, where a key may do everything. */
async function reset(person: Person): Promise<void> {
  const [{ id } = {}] = await rig.sql('select id from users where username = $1', [person.email])
  const literal = (text: unknown) => `'${String(text).replaceAll("'", "''")}'`
  await rig.sql(`begin; set local role millrace_app;
    select set_config('app.platform_id', ${literal(rig.platforms[0].id)}, true), set_config('app.environment', 'LIVE', true);
    do $$ begin assert reset_second_factor(${literal(id)}, true, ${literal(`mail_${person.email}`)}) = 'DONE'; end $$;
    commit`)
}

test('sessions end, the password alone signs in, old codes are worth nothing, and the user enrols again', async () => {
  const person = await newTwoStepPerson(rig)
  const half = await gavePassword(rig, person)
  await mailsOf(rig)
  await reset(person)
  expect((await person.browser.get('/second-factor')).headers.location).toBe('/sign-in')
  expect((await half.submit('/sign-in/second', { code: await codeOf(rig, person.secret) })).statusCode).not.toBe(200)
  expect(half.cookies.has('__Host-sid')).toBe(false)
  const browser = await gavePassword(rig, person)
  expect((await browser.get('/')).body).toContain(person.email)
  const fresh = await turnOnAuthenticator(rig, browser)
  expect(fresh.secret).not.toBe(person.secret)
  await rig.advance(60)
  const attempt = async (fields: Record<string, string>) => {
    const next = await gavePassword(rig, person)
    await next.get('/sign-in/second')
    return (await next.submit('/sign-in/second', fields)).statusCode
  }
  expect(await attempt({ recovery: person.recoveryCodes[0] ?? '' })).toBe(401)
  expect(await attempt({ code: await codeOf(rig, person.secret) })).toBe(401)
  expect(await attempt({ code: await codeOf(rig, fresh.secret) })).toBe(303)
})

test('the mail says who removed it, and what to do if the user did not ask', async () => {
  const person = await newTwoStepPerson(rig)
  await mailsOf(rig)
  await reset(person)
  const [mail, ...more] = (await mailsOf(rig)).filter(({ to }) => to === person.email)
  expect(more).toEqual([])
  expect(mail?.text).toContain('An administrator of your platform removed the second factor')
  expect(mail?.text).toContain('Every session was signed out.')
  expect(mail?.text).toContain('/forgot-password')
})
