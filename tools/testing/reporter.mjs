/*
 * A reporter of Vitest that writes what happened as lines of JSON, as soon as it happened: an interrupted run still tells
 * what was done. The file is named by MILLRACE_TEST_RESULTS. See results.mjs for the reader.
 */
import { appendFileSync } from 'node:fs'
import { loadavg } from 'node:os'

export default class LinesReporter {
  #write = (line) => appendFileSync(process.env.MILLRACE_TEST_RESULTS, `${JSON.stringify(line)}\n`)

  onTestRunStart(specifications) {
    for (const { moduleId, project } of specifications) {
      this.#write({ kind: 'planned', file: moduleId, project: project.name })
    }
  }

  onTestModuleEnd(module) {
    this.#write({
      kind: 'ended',
      file: module.moduleId,
      project: module.project.name,
      ok: module.ok(),
      ms: Math.round(module.diagnostic().duration),
      load: loadavg()[0],
      errors: module.errors().map(({ message }) => message),
      tests: [...module.children.allTests()].map(describeTest),
    })
  }

  onTestRunEnd(_modules, errors) {
    for (const error of errors) {
      this.#write({
        kind: 'stray',
        file: error.VITEST_TEST_PATH ?? null,
        message: error.message,
        load: loadavg()[0],
      })
    }
  }
}

/** `message` is null unless the test failed. */
function describeTest(test) {
  const { state, errors } = test.result()
  return {
    name: test.fullName,
    state,
    message: state === 'failed' ? (errors?.[0]?.message ?? 'It failed.') : null,
  }
}
