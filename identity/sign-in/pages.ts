// What a person sees while signing in.
import { type Html, html } from '../pages/html.ts'
import { alert, page } from '../pages/layout.ts'

/** The sign-in form. `request` names the authorization request that waits for it, if one does. */
export const signInPage = (input: {
  readonly csrf: string
  readonly request: string | null
  readonly email?: string
  readonly fault?: string
}): string =>
  page(
    'Sign in',
    html`<h1>Sign in</h1>
${input.fault === undefined ? null : alert(input.fault)}
<form class="wide" method="post" action="/sign-in">
<input type="hidden" name="csrf" value="${input.csrf}">
${input.request === null ? null : html`<input type="hidden" name="request" value="${input.request}">`}
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${input.email ?? ''}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>
<p class="foot"><a href="/forgot-password">Forgot your password?</a></p>`,
  )

/** Where a signed-in person lands who came for nothing in particular. */
export const homePage = (input: { readonly csrf: string; readonly username: string; readonly links: Html }): string =>
  page(
    'Your account',
    html`<h1>Your account</h1>
<p>Signed in as <strong>${input.username}</strong>.</p>
${input.links}
<form method="post" action="/sign-out">
<input type="hidden" name="csrf" value="${input.csrf}">
<button class="second">Sign out</button>
</form>`,
  )

/** Asked before every session ends: what else is to end with them. */
export const signOutEverywherePage = (input: { readonly csrf: string; readonly apps: readonly string[] }): string =>
  page(
    'Sign out everywhere',
    html`<h1>Sign out everywhere</h1>
<p>Ends your sessions in every browser, this one too.</p>
<form method="post" action="/sign-out-everywhere">
<input type="hidden" name="csrf" value="${input.csrf}">
${
  input.apps.length > 0 &&
  html`<p>Applications are not signed out by that. You have connected ${input.apps.join(', ')}.</p>
<label class="choice"><input type="checkbox" name="apps" value="all"> Disconnect these too</label>`
}
<button>Sign out everywhere</button>
</form>
<p class="foot"><a href="/">Back to your account</a></p>`,
  )
