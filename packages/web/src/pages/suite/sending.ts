/** What a shell runs to test and to send the results. Each of these was tried; see docs/conformance.md. */
export const tools = {
  pytest: 'pytest',
  vitest: 'Vitest',
  jest: 'Jest',
  go: 'Go',
  junit: 'Anything that writes JUnit',
} as const

export type Tool = keyof typeof tools

const testing: Readonly<Record<Tool, string>> = {
  pytest: 'pytest --junitxml=report.xml',
  vitest: 'npx vitest run --reporter=default --reporter=junit --outputFile=report.xml',
  jest: `npm install --no-save jest-junit
JEST_JUNIT_OUTPUT_FILE=report.xml npx jest --reporters=default --reporters=jest-junit`,
  go: 'go run gotest.tools/gotestsum@v1.13.0 --junitfile report.xml ./...',
  junit: '# Write report.xml, then:',
}

export const writtenToken = (token: string): string => `export SUITE_TOKEN=${token}`

/** In a job the results belong to its build. */
export const commandsFor = (tool: Tool, origin: string): string =>
  `${testing[tool]}
curl -sS ${origin}/v1/uploads \\
  -H "Authorization: Token token=$SUITE_TOKEN" \\
  -F format=junit -F data=@report.xml \\
  -F "run_env[key]=\${BUILDKITE_BUILD_ID:-$(date +%s)}" \\
  -F "run_env[job_id]=$BUILDKITE_JOB_ID" \\
  -F "run_env[branch]=\${BUILDKITE_BRANCH:-$(git branch --show-current)}" \\
  -F "run_env[commit_sha]=\${BUILDKITE_COMMIT:-$(git rev-parse HEAD)}"`
