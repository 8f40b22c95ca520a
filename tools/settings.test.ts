import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('the tables of settings in the docs are those of the declarations', () => {
  const tool = fileURLToPath(new URL('settings.mjs', import.meta.url))
  expect(execFileSync(process.execPath, [tool, '--check'], { encoding: 'utf8' })).toContain('up to date')
})
