// Finds the text of a pipeline: a named file, standard input, or the one default file that exists.
import { createReadStream, existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DEFAULT_MAX_BYTES } from '@millrace/engine/steps/document.ts'
import { errorCode } from '../error-code.ts'
import { Refused } from '../refused.ts'

export interface PipelineFile {
  /** The name in error messages. */
  name: string
  text: string
  /** The folder of the file; the current folder for standard input. */
  folder: string
}

interface FileRequest {
  /** `-` is standard input; undefined: look for the default files. */
  name: string | undefined
  cwd: string
  input: AsyncIterable<Uint8Array>
}

const DEFAULT_FILES = ['buildkite', '.buildkite/pipeline', 'buildkite/pipeline'].flatMap((stem) =>
  ['yml', 'yaml', 'json'].map((ending) => `${stem}.${ending}`),
)

export async function readPipelineFile({ name, cwd, input }: FileRequest): Promise<PipelineFile> {
  if (name === '-')
    return { name: 'standard input', text: await readText('Standard input', input), folder: cwd }
  const found = name ?? findUsual(cwd)
  const path = resolve(cwd, found)
  return { name: found, text: await readText(found, createReadStream(path)), folder: dirname(path) }
}

function findUsual(cwd: string): string {
  const [first, second] = DEFAULT_FILES.filter((file) => existsSync(join(cwd, file)))
  if (first === undefined) {
    throw new Refused(`There is no pipeline here: name a file, or have one of ${DEFAULT_FILES.join(', ')}.`)
  }
  if (second !== undefined)
    throw new Refused(`Both ${first} and ${second} are here: name the one that is meant.`)
  return first
}

/** Reads at most the maximal length of a pipeline, so that an endless file does no harm. */
async function readText(name: string, input: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = await readBytes(name, input)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refused(`${name} is not UTF-8 text.`)
  }
}

async function readBytes(name: string, input: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of input) {
      size += chunk.length
      if (size > DEFAULT_MAX_BYTES) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw new Refused(`${name} cannot be read (${errorCode(error)}).`)
  }
  if (size > DEFAULT_MAX_BYTES) throw new Refused(`${name} is larger than ${DEFAULT_MAX_BYTES} bytes.`)
  return Buffer.concat(chunks)
}
