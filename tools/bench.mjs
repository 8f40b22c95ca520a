import { prepare } from './prepare.mjs'
import { pythonWith } from './python.mjs'

await prepare({ dev: true })
if (process.argv[2] === 'peers') findBuildbot()
await import('../bench/dist/main.js')

/** The benchmark runs without it too, and names the reason. */
function findBuildbot() {
  const packages = ['buildbot==4.3.0', 'buildbot-worker==4.3.0', 'buildbot-www==4.3.0']
  try {
    process.env.BENCH_BUILDBOT_PYTHON ??= pythonWith('buildbot, buildbot_worker', packages)
  } catch (error) {
    process.env.BENCH_BUILDBOT_MISSING = error.message
  }
}
