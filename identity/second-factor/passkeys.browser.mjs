// The one script of these pages: hands the browser's passkey to the form around it. Nothing else works with scripts alone.
// Written out rather than with parseRequestOptionsFromJSON and toJSON, which browsers of 2024 do not all have.

const bytesOf = text =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), character => character.charCodeAt(0))
const textOf = buffer =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
const withBytes = list => (list ?? []).map(each => ({ ...each, id: bytesOf(each.id) }))

const DOING = {
  async get(options) {
    const { id, response } = await navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        allowCredentials: withBytes(options.allowCredentials),
      },
    })
    return {
      id,
      response: {
        clientDataJSON: textOf(response.clientDataJSON),
        authenticatorData: textOf(response.authenticatorData),
        signature: textOf(response.signature),
      },
    }
  },
  async create(options) {
    const { id, response } = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        user: { ...options.user, id: bytesOf(options.user.id) },
        excludeCredentials: withBytes(options.excludeCredentials),
      },
    })
    return {
      id,
      response: {
        clientDataJSON: textOf(response.clientDataJSON),
        attestationObject: textOf(response.attestationObject),
        transports: response.getTransports?.() ?? [],
      },
    }
  },
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  form.addEventListener('submit', async event => {
    event.preventDefault()
    const complaint = form.querySelector('[role="alert"]')
    complaint.hidden = true
    try {
      const credential = await DOING[form.dataset.passkey](JSON.parse(form.dataset.options))
      form.elements.namedItem('passkey').value = JSON.stringify(credential)
      form.submit()
    } catch {
      // Cancelled, timed out, or not possible in this browser: the browser tells no more than that.
      complaint.hidden = false
    }
  })
}
