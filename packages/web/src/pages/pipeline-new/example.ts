/** The steps that a new pipeline begins with. */
export const exampleSteps = `steps:
  - label: ":hammer: Build"
    key: build
    command: make build

  - label: ":test_tube: Test"
    command: make test
    depends_on: build
    parallelism: 2

  - wait

  - block: "Deploy?"

  - label: ":rocket: Deploy"
    command: make deploy
`
