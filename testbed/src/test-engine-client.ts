// The public test engine client, unmodified: https://github.com/buildkite/test-engine-client.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export const testEngineClient =
  process.env['MILLRACE_TEST_BKTEC'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'bktec'))
    .find((file) => existsSync(file))

/** Why it cannot run here; null: it can. */
export const testEngineClientLacks =
  testEngineClient === undefined ? 'bktec is neither installed nor named by MILLRACE_TEST_BKTEC' : null
