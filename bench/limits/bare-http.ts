// The limit for single events: a uWebSockets.js handler that reads the body and answers 201, and does nothing else.
import { loadUws } from '../../ingest/http/load-uws.ts'

const { uws } = loadUws()
uws
  .App()
  .post('/*', res => {
    let bytes = 0
    res.onAborted(() => {})
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength
      if (isLast) {
        res.cork(() => {
          res.writeStatus('201 Created').end(String(bytes))
        })
      }
    })
  })
  .listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, socket => {
    if (socket === false) throw new Error('no port to listen on')
    console.log(JSON.stringify({ port: uws.us_socket_local_port(socket) }))
  })
