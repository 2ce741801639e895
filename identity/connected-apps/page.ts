// The page of connected applications.
import { type Html, html } from '../pages/html.ts'
import { page } from '../pages/layout.ts'
import type { ConnectedApp } from './connected-apps.ts'

/** The list, each with its way out. */
export const connectedAppsPage = (input: { readonly csrf: string; readonly apps: readonly ConnectedApp[] }): string =>
  page(
    'Connected applications',
    html`<h1>Connected applications</h1>
<p>Applications that may act for you. Disconnecting one takes effect within seconds.</p>
${input.apps.length === 0 ? html`<p class="note">No connected applications yet.</p>` : input.apps.map(app => entry(app, input.csrf))}
<p><a href="/">Back to your account</a></p>`,
  )

const entry = (app: ConnectedApp, csrf: string): Html => html`<section class="note">
<h2>${app.clientName}${app.host === null ? null : html` of <span class="host">${app.host}</span>`}</h2>
<p>Name not verified${app.host === null ? null : html`, address verified`}. It sends you to ${app.redirectUris.map(uri => html`<code>${uri}</code> `)}</p>
<p>May use ${app.scopes.map(scope => html`<code>${scope}</code> `)} on ${app.platforms.join(', ')}.
Connected on ${app.connectedOn}, last used ${app.lastUsedAt ?? 'never'}.</p>
<form method="post" action="/connected-apps/disconnect">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="grant" value="${app.grantId}">
<button class="second">Disconnect ${app.clientName}</button>
</form>
</section>`
