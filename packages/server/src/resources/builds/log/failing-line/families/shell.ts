// Shells, git, and programs that scripts call: Docker, Terraform, Ansible, curl, psql, kubectl.
import { weights, type Family } from '../family.ts'

const { cause, exception, symptom, complaint, summary, epilogue } = weights

export const shell: readonly Family[] = [
  {
    name: 'shell',
    gap: 20,
    shapes: [
      { begins: /^\S+: (?:line )?\d+: \S.*: (?:command )?not found$/, weight: cause },
      {
        begins: /^\S+: (?:eval: |-c: )?(?:line )?\d+: (?:syntax error|Syntax error|unexpected EOF)/,
        weight: cause,
      },
      {
        begins:
          /^\S+: (?:-c: )?(?:line )?\d+: \S.*: (?:unbound variable|parameter not set|parameter null or not set|bad substitution)/,
        weight: cause,
      },
      {
        begins:
          /^\S+: (?:line )?\d+: \S.*: (?:No such file or directory|Permission denied|cannot execute|Is a directory|not found|cannot (?:open|create))/,
        weight: cause,
      },
      { begins: /^\S+: (?:line )?\d+: cannot (?:open|create) /, weight: cause },
      {
        begins:
          /^[\w./-]{1,100}: (?:command )?not found$|^(?:zsh|fish): (?:command not found|Unknown command)/,
        weight: exception,
      },
      { begins: /^(?:error|Error): Recipe [`'].+ failed|^task: Failed to run task/, weight: epilogue },
    ],
  },
  {
    name: 'git',
    gap: 20,
    shapes: [
      {
        begins:
          /^(?:remote: )?fatal: (?!Could not read from remote repository|(?:GET|POST|PUT|PATCH|DELETE) )\S/,
        weight: exception,
      },
      { begins: /^fatal: Could not read from remote/, weight: complaint },
      { begins: /^ ! \[(?:remote )?rejected\]/, weight: exception },
      { begins: /^CONFLICT \(/, weight: exception },
      {
        begins:
          /^(?:ERROR: Repository not found|Host key verification failed|\S+: Permission denied \(|ssh: (?:connect|Could not resolve))/,
        weight: exception,
      },
    ],
  },
  {
    name: 'docker',
    shapes: [
      {
        begins: /^(?:#\d+ )?ERROR: (?:failed to (?:build|solve)|process ").*did not complete successfully/,
        weight: summary,
      },
      {
        begins:
          /^(?:ERROR|Error response from daemon|docker): (?:failed to|Cannot connect|Error|permission denied|.*pull access denied|\S)/,
        weight: symptom,
      },
      { begins: /^The command '.+' returned a non-zero code: \d/, weight: summary },
    ],
  },
  {
    name: 'infrastructure',
    shapes: [
      { begins: /^[│╷╵|]?\s{0,2}Error: \S/, weight: exception },
      { begins: /^fatal: \[[^\]]{1,100}\]: (?:FAILED|UNREACHABLE)!/, weight: cause },
      { begins: /^Error from server(?: \(|:)/, weight: exception },
      {
        begins:
          /^(?:error: (?:unable to recognize|error validating|timed out waiting)|Error: (?:INSTALLATION|UPGRADE) FAILED)/,
        weight: exception,
      },
    ],
  },
  {
    name: 'programs',
    gap: 20,
    shapes: [
      { begins: /^curl: \(\d+\) /, weight: exception },
      { begins: /^(?:psql:.+:\d+: )?(?:ERROR|FATAL): {1,2}\S/, weight: exception },
      { begins: /^(?:psql|pg_\w+|mysql\w*|createdb): (?:error|fatal): /, weight: exception },
      { begins: /^ERROR \d+ \(\w+\)/, weight: exception },
      { begins: /^E: \S/, weight: exception },
      { begins: /^\(?[\w./-]+\)?:\d+:\d+: (?!note|warning|info)\S/, weight: symptom },
      {
        begins:
          /^[\w./-]{1,60}: .*(?:No such file or directory|Permission denied|Connection refused|cannot |can't |unable to |[Ff]ailed to |not permitted|File exists|No space left|[Ii]nvalid |unrecognized |does not exist|Name or service not known|timed out)/,
        weight: complaint,
      },
    ],
  },
]
