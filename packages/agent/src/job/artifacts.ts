import { uploadArtifacts } from '../artifacts/upload.ts'
import { runHooks } from './hooks.ts'
import type { JobRun } from './run.ts'

/** Uploads the step's artifact paths, even after a failed command. */
export async function runArtifactPhase(run: JobRun): Promise<number> {
  const patterns = run.env['BUILDKITE_ARTIFACT_PATHS'] ?? ''
  if (patterns.trim() === '') return 0
  await runHooks(run, 'pre-artifact', ['agent', 'repository', 'plugin'])
  run.log.say('~~~ Uploading artifacts')
  await uploadArtifacts(run.api, {
    jobId: run.job.id,
    patterns,
    folder: run.cwd,
    destination: run.env['BUILDKITE_ARTIFACT_UPLOAD_DESTINATION'] ?? '',
    env: run.env,
    say: (line) => run.log.say(line),
  })
  await runHooks(run, 'post-artifact', ['agent', 'repository', 'plugin'])
  return 0
}
