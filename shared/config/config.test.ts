import { expect, test } from 'vitest'
import { loadConfig } from './config.ts'

test('defaults fill what is not set', () => {
  expect(loadConfig({}, ['PORT_BASE', 'HOST', 'BASE_URL'])).toEqual({
    PORT_BASE: 8080,
    HOST: '127.0.0.1',
    BASE_URL: null,
  })
})

test('every fault is named at once', () => {
  const faulty = () =>
    loadConfig({ PORT_BASE: '80x', CLICKHOUSE_URL: 'tcp://h' }, ['PORT_BASE', 'CLICKHOUSE_URL', 'DATABASE_URL'])
  expect(faulty).toThrow(/PORT_BASE="80x".*[\s\S]*CLICKHOUSE_URL="tcp:\/\/h"[\s\S]*DATABASE_URL is not set/)
})

test('a setting that holds a secret is named without it', () => {
  const faulty = () =>
    loadConfig({ IDENTITY_SECRET: 'short-secret', SMTP_URL: 'http://me:my-password@mail.example.com' }, [
      'IDENTITY_SECRET',
      'SMTP_URL',
    ])
  expect(faulty).toThrow(
    /IDENTITY_SECRET=\(not shown\)[\s\S]*SMTP_URL=\(not shown\) must be a URL with smtp: or smtps:/,
  )
  expect(faulty).not.toThrow(/short-secret|my-password/)
})

test.each(['Billing <billing@example.com>', 'billing@example.com'])('mail may come from %s', from => {
  expect(loadConfig({ MAIL_FROM: from }, ['MAIL_FROM']).MAIL_FROM).toBe(from)
})

test.each(['nobody', 'a@b\r\nBcc: c@d', 'A <a@b>, B <c@d>', 'a@b, c@d', '"A" <a@b>'])(
  'mail may not come from %j',
  from => {
    expect(() => loadConfig({ MAIL_FROM: from }, ['MAIL_FROM'])).toThrow(/MAIL_FROM=.* must be an address like/)
  },
)

test('trusted proxies are addresses and networks', () => {
  const read = (value: string) => loadConfig({ TRUSTED_PROXIES: value }, ['TRUSTED_PROXIES']).TRUSTED_PROXIES
  expect(read('')).toEqual([])
  expect(read('10.0.0.0/8, 192.0.2.1,::1')).toEqual(['10.0.0.0/8', '192.0.2.1', '::1'])
  for (const wrong of ['proxy', '10.0.0.0/33', '10.0.0/8', '1.2.3.4/8/8', 'true']) {
    expect(() => read(wrong)).toThrow(/TRUSTED_PROXIES=.* must be addresses or networks/)
  }
})
