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
</form>`,
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
<button class="second" formaction="/sign-out-everywhere">Sign out everywhere</button>
</form>`,
  )
