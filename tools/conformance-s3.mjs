/*
 * Runs the tests of S3 stores with OpenStack Swift, an independent server that checks every signature. It is installed
 * from PyPI into a Python environment below node_modules/.cache. TEST_S3 (`https://KEY:SECRET@host?region=…`, both
 * percent-encoded) names another store.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { prepareOrExit, root } from './prepare.mjs'
import { pythonWith } from './python.mjs'

const swift = 'swift==2.38.3'
const files = ['packages/server/src/blobs', 'packages/server/src/agent-api/jobs/artifacts-in-s3.test.ts']

await prepareOrExit({ dev: true })
const server = process.env.TEST_S3 ? null : await startSwift(findPython())
try {
  process.exitCode = await runTests(process.env.TEST_S3 ?? server.url)
} finally {
  await server?.stop()
}

function findPython() {
  try {
    return pythonWith('swift.common.wsgi', [swift])
  } catch (error) {
    console.error(error.message)
    console.error(
      'On Debian, "apt-get install python3-swift" gives all of it; otherwise install Python 3 with venv and pip, or name ' +
        'a store to ask with TEST_S3=https://KEY:SECRET@host?region=….',
    )
    process.exit(1)
  }
}

async function startSwift(python) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-swift-data-'))
  const [account, secret] = ['millrace:conformance', randomBytes(16).toString('hex')]
  const script = join(root, 'tools', 'swift', 'serve.py')
  const child = spawn(python, ['-W', 'ignore', script, folder, account, secret, 'us-east-1'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const first = createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
  const { value: address } = await Promise.race([first, closed.then(() => ({ value: undefined }))])
  const stop = async () => {
    child.stdin.end()
    await closed
    rmSync(folder, { recursive: true, force: true })
  }
  if (address === undefined) {
    await stop()
    console.error('Swift did not start: see above. Its files need a file system with extended attributes.')
    process.exit(1)
  }
  const url = new URL(address)
  url.username = encodeURIComponent(account)
  url.password = secret
  console.error(`OpenStack Swift listens at ${address}.`)
  return { url: url.href, stop }
}

function runTests(store) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [
    vitest,
    'run',
    '--project',
    'server',
    '--testTimeout=120000',
    ...files,
    ...process.argv.slice(2),
  ]
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_S3: store },
  })
  return new Promise((resolve) => child.once('close', (status) => resolve(status ?? 1)))
}
