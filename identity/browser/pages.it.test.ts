// Every page as it is drawn: on the narrowest telephone, in light and dark, for people who see little, and for those whose
// screen is read out (WCAG 2.2, 1.3.1, 1.4.3, 1.4.10, 1.4.11, 2.4.2, 2.5.8, 4.1.2).
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium } from '../../shared/testing/chromium.ts'
import { type ChromiumRig, signInOn, startChromiumRig } from '../testing/chromium-rig.ts'
import { codeOf, newPerson } from '../testing/second-factor.ts'

const PLAIN_PAGES = [
  '/',
  '/connected-apps',
  '/second-factor',
  '/second-factor/passkeys/new',
  '/password',
  '/password-set',
  '/sign-out-everywhere',
  '/forgot-password',
  '/reset-password?token=unknown',
  '/nowhere',
]

describe.runIf(hasChromium())('in Chromium', () => {
  let rig: ChromiumRig
  beforeAll(async () => {
    rig = await startChromiumRig()
  })
  afterAll(() => rig?.close())

  test.each(['light', 'dark'] as const)('every page can be read and used, %s, at 320 pixels', async colorScheme => {
    const person = await newPerson(rig.identity)
    const page = await rig.newPage({ colorScheme, viewport: { width: 320, height: 640 } })
    const faults: string[] = []
    const look = async (): Promise<void> => {
      const found = await faultsOf(page)
      faults.push(...found.map(fault => `${new URL(page.url()).pathname}: ${fault}`))
    }
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    await page.goto('/sign-in')
    await look()
    await signInOn(page, { ...person, password: 'wrong' })
    await page.getByRole('alert').waitFor()
    await look()
    await page.goto((await rig.newClient('Claude')).start)
    await signInOn(page, person)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await look()
    await page.getByLabel('Platform A – LIVE').check()
    await page.getByLabel('Platform A – LIVE').uncheck()
    await press('Approve')
    await page.getByRole('alert').waitFor()
    await look()
    for (const path of PLAIN_PAGES) {
      await page.goto(path)
      await look()
    }
    await page.goto('/second-factor')
    await press('Set up an authenticator app')
    await page.getByRole('img').waitFor()
    await look()
    const secret = ((await page.locator('code.key').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code that the app shows now').fill(await codeOf(rig.identity, secret))
    await press('Turn on')
    await page.getByRole('heading', { name: 'Recovery codes' }).waitFor()
    await look()
    await page.goto('/second-factor')
    await look()
    await rig.identity.advance(700)
    await page.goto('/confirm?act=second-factor')
    await look()
    await page.goto('/consent?request=areq_0000000000000000000000')
    await look()
    await page.goto('/')
    await press('Sign out')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signInOn(page, person)
    await page.getByText('Use a recovery code').click()
    await look()
    expect(faults).toEqual([])
  })

  test('what is measured here can be found wrong', async () => {
    const page = await rig.newPage({ viewport: { width: 320, height: 640 } })
    await page.goto('/sign-in')
    await page.evaluate(`
      document.querySelector('label').remove()
      document.querySelector('h1').style.color = '#999'
      document.querySelector('main').style.width = '400px'
      document.querySelector('button').style.minHeight = document.querySelector('button').style.padding = 0
      document.querySelector('button').style.lineHeight = 1
      document.documentElement.lang = ''`)
    const faults = await faultsOf(page)
    for (const fault of [
      'is wider than the screen',
      'has no name',
      'contrast 2.85',
      'has no language',
      'is too low to hit',
    ])
      expect(faults.join('\n')).toContain(fault)
  })
})

/** What is wrong with the page as it stands, in words. */
const faultsOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(MEASURE)

const MEASURE = `(() => {
  const faults = []
  const root = document.documentElement
  const nameOf = element => element.tagName.toLowerCase() + ' "' + element.textContent.trim().slice(0, 30) + '"'
  if (root.scrollWidth > root.clientWidth) faults.push('is wider than the screen: ' + root.scrollWidth)
  if (root.lang === '') faults.push('has no language')
  if (document.title.trim() === '') faults.push('has no title')
  if (document.querySelectorAll('h1').length !== 1) faults.push('has not one heading')
  if (document.querySelectorAll('main').length !== 1) faults.push('has not one main part')
  for (const field of document.querySelectorAll('input:not([type="hidden"]), select')) {
    if (field.labels.length === 0) faults.push('field ' + field.name + ' has no name')
  }
  for (const image of document.querySelectorAll('img, [role="img"]')) {
    if (!image.hasAttribute('alt') && !image.hasAttribute('aria-label')) faults.push('an image says nothing')
  }
  const partsOf = text => text.match(/[0-9.]+/g).map(Number)
  const luminance = color => {
    const [r, g, b] = partsOf(color).map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const groundOf = element => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor
      if ((partsOf(color)[3] ?? 1) === 1) return color
    }
    return 'rgb(255, 255, 255)'
  }
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y)
    return (high + 0.05) / (low + 0.05)
  }
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('svg') || element.getClientRects().length === 0) continue
    const style = getComputedStyle(element)
    const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim() !== '')
    if (hasText) {
      const found = contrast(style.color, groundOf(element))
      if (found < 4.5) faults.push(nameOf(element) + ' has contrast ' + found.toFixed(2))
    }
    if (element.matches('input:not([type="checkbox"])')) {
      const found = contrast(style.borderTopColor, groundOf(element.parentElement))
      if (found < 3) faults.push('the border of ' + element.name + ' has contrast ' + found.toFixed(2))
    }
    const inText = element.matches('p a, li a')
    if (element.matches('button, input, summary, .button, label.choice, a') && !inText && !element.closest('label')) {
      if (element.getBoundingClientRect().height < 24) faults.push(nameOf(element) + ' is too low to hit')
    }
  }
  return faults
})()`
