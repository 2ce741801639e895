import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html } from './html.ts'

test('whatever is put in is escaped, and HTML of ours is not escaped twice', () => {
  const name = html`<b>${'<img src=x onerror=alert(1)> & "more"'}</b>`
  expect(html`<p title="${"it's"}">${name}</p>`.text).toBe(
    '<p title="it&#39;s"><b>&lt;img src=x onerror=alert(1)&gt; &amp; &quot;more&quot;</b></p>',
  )
})

test('null and false are nothing, lists are joined', () => {
  expect(html`${null}${false}${['a', html`<i></i>`, 0]}`.text).toBe('a<i></i>0')
})

test('no text can bring a tag or end an attribute', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      expect(html`${text}`.text).not.toMatch(/[<>"']/)
    }),
  )
})
