import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Exit, JWKS_FILE, JWKS_KEY_ID } from '../verb.ts'
import type { Verb } from '../verb.ts'

const keygen: Verb = {
  name: 'tool keygen',
  usage: '',
  summary: 'Make a pair of keys: one signs steps, the other verifies them.',
  flags: {
    alg: { kind: 'text', summary: 'EdDSA, ES512 or PS512', fallback: 'EdDSA' },
    'key-id': { kind: 'text', summary: 'What to call the keys; random when absent' },
    'private-jwks-file': { kind: 'text', summary: 'Where to write the key that signs' },
    'public-jwks-file': { kind: 'text', summary: 'Where to write the key that verifies' },
  },
  async run({ flags, io }) {
    const { exportJWK, generateKeyPair } = await import('jose')
    const { SIGNATURE_ALGORITHMS } = await import('../../signing/keys.ts')
    const alg = flags.text('alg')
    if (!SIGNATURE_ALGORITHMS.includes(alg))
      throw new Exit(1, `${alg} is not one of ${SIGNATURE_ALGORITHMS.join(', ')}.`)
    const kid = flags.text('key-id') || randomUUID()
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    const write = async (name: string, key: Parameters<typeof exportJWK>[0], mode: number) => {
      const set = { keys: [{ ...(await exportJWK(key)), alg, kid, use: 'sig' }] }
      const file = resolve(io.cwd, flags.text(`${name}-jwks-file`) || `./${alg}-${kid}-${name}.json`)
      // Never overwrite an existing key.
      await writeFile(file, `${JSON.stringify(set)}\n`, { mode, flag: 'wx' }).catch(() => {
        throw new Exit(1, `${file} cannot be written, or exists already.`)
      })
      io.printError(`Wrote ${file}`)
    }
    await write('private', privateKey, 0o600)
    await write('public', publicKey, 0o644)
  },
}

const sign: Verb = {
  name: 'tool sign',
  usage: '[file]',
  summary: 'Print the pipeline of a file with its steps signed, for pipelines that are kept on the server.',
  flags: {
    'jwks-file': JWKS_FILE,
    'jwks-key-id': JWKS_KEY_ID,
    repo: { kind: 'text', summary: "The address of the pipeline's repository", variable: 'BUILDKITE_REPO' },
  },
  async run({ args, flags, io }) {
    const { openPipelineFile, readUploads } = await import('../pipeline/read.ts')
    const { readSigningKey } = await import('../../signing/keys.ts')
    const { signPipeline } = await import('../../signing/sign-pipeline.ts')
    const key = await readSigningKey(flags.need('jwks-file'), flags.text('jwks-key-id'))
    const file = await openPipelineFile(io, args[0])
    const pipelines = await readUploads(io, file, { interpolates: false, base: '', listFile: '' })
    for (const pipeline of pipelines) {
      const signed = await signPipeline(pipeline, flags.need('repo'), key)
      io.print(`${JSON.stringify(signed, null, 2)}\n`)
    }
  },
}

export const toolVerbs = [keygen, sign]
