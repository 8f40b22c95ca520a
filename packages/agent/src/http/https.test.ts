import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { aFolder } from '../../test/agent.ts'
import { certificate, key } from '../../test/certificate.ts'
import { exchange } from './exchange.ts'
import { trustAlso } from './https.ts'

/** Returns what closes its connections, and a request to it. */
async function aServer() {
  const server = createServer({ key, cert: certificate }, (_request, response) => response.end('hello'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    trustAlso(undefined)
    server.closeAllConnections()
    server.close()
  })
  const url = new URL(`https://localhost:${(server.address() as AddressInfo).port}/`)
  const ask = async () => {
    const { body } = await exchange({ method: 'POST', url, headers: {}, body: Buffer.from('x'), wait: {} })
    return body.toString()
  }
  return { ask, disconnect: () => server.closeAllConnections() }
}

async function aFileWith(text: string): Promise<string> {
  const file = join(await aFolder(), 'certificates.pem')
  writeFileSync(file, text)
  return file
}

it('trusts a server whose certificate is in the file, also on a new connection', async () => {
  const { ask, disconnect } = await aServer()
  trustAlso(await aFileWith(certificate))
  expect(await ask()).toBe('hello')
  disconnect()
  expect(await ask()).toBe('hello')
})

it('trusts no other server, whether there is a file or not', async () => {
  const { ask } = await aServer()
  for (const file of [undefined, await aFileWith('no certificate'), '/nowhere/certificates.pem']) {
    trustAlso(file)
    await expect(ask()).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  }
})
