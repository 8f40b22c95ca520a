// What agents themselves write into a log, and the server at its end.
import { weights, type Family } from '../family.ts'

const { complaint, epilogue, cause } = weights

export const agents: readonly Family[] = [
  {
    name: 'agent',
    shapes: [
      // What is wrong with an uploaded pipeline.
      { begins: /^(?:\(stdin\)|[\w./-]{1,200}\.ya?ml):\d+:\d+: \S/, weight: cause },
      { begins: /^fatal: (?:GET|POST|PUT|PATCH|DELETE) https?:/, weight: complaint },
      { begins: /^(?:🚨 )?(?:Error: )?The command exited with status -?\d+$/, weight: epilogue },
      { begins: /^# (?:The time is over|The job was canceled|The agent stops)$/, weight: cause },
      { begins: /^\[The agent was lost while it ran this job/, weight: cause },
      { begins: /^\[This log is longer than \d+ bytes/, weight: epilogue },
      {
        begins: /^(?:🚨 Error|Refused): \S|^The signature of the job is not accepted|^Missing [A-Z_]+/,
        weight: complaint,
      },
      { begins: /^Error: the \S.* hook ended with status \d+$/, weight: epilogue },
      { begins: /^user command error: /, weight: epilogue },
    ],
  },
]
