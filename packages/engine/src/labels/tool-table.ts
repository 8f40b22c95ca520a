// Names of tools that Buildkite shows as logos. We have no logos: some names have a character that fits, the others are shown
// as their initial.

/** A character and its names on each line. */
export const toolTable = `
🃏 jest
📦 npm pnpm nuget cargo crates rpm webpack packagecloud package_cloud package-cloud parcel parcel-bundler rollup bundler pypi pip
🧶 yarnpkg
🧹 eslint lint-roller lint-remover tslint jshint oxc oxlint oxc-rs hadolint golangci-lint rubocop stylelint scsslint solhint isort
⚛️ react preact electron
🏗️ terraform hashicorp-terraform terragrunt opentofu tofu aws-cloudformation cloudformation pulumi crossplane
🐹 go golang golang-mascot go-mascot go-gopher golang-gopher goland jetbrains-goland
🔀 pipeline pipeline_upload pipeline-upload open-pull-request open-pr merged-pull-request merged-pr
🐳 docker buildah kaniko
☸️ kubernetes k8s helm
☁️ aws amazon-aws aws-logo aws-cloud-logo aws-cloud-logo-dark googlecloud gcloud gcp azure cloudflare cloudfront cloud-run cloudfoundry cloudsmith
🐙 github octocat
🦀 rust rustlang
🐍 python pycharm jetbrains-pycharm
💎 ruby rubygems rubymine jetbrains-rubymine rubysec
🟢 node node_js nodejs node-js green-button green_button bk-status-passed
🔴 red-button red_button bk-status-failed
🟡 bk-status-running bk-status-pending
🟠 bk-status-failing
⚪ bk-status-cancelled
☕ java maven mvn
🐘 postgres php gradle hadoop phpstorm jetbrains-phpstorm
🐬 mysql
🦊 gitlab firefox
🤖 android androidstudio android-studio mcp claude openai github-copilot renovate coder
🍎 mac darwin macos ios xcode xcode-simulator xcode_simulator finder
🐧 linux alpine
🔷 typescript dartlang flutter
🟨 javascript js
🦕 deno
🥟 bun
⚡ vite vitest esbuild turborepo
🧪 test-analytics pytest rspec phpunit junit mocha jasmine karma testmo pest pestphp test-kitchen kitchen-ci testcomplete testengine testexecute testleft smartbear-testcomplete smartbear-testengine smartbear-testexecute smartbear-testleft
🥒 cucumber-open cucumber-io cucumberopen cucumber-studio smartbear-cucumber smartbear-cucumberopen
🎭 playwright puppeteer
🌲 cypress cypressio
🐚 bash shellcheck
💻 terminal console powershell pwsh
☂️ codecov
🛡️ snyk trivy grype aws-shield semgrep bandit brakeman checkov wiz lacework
🔐 vault hashicorp-vault openbao keymaster aws-kms gitguardian
🌐 nginx apache chrome chromium safari edge microsoftedge ie internet_explorer internet-explorer html-proofer html world-map world-map-au globe globe-au
🎨 css cascading-style-sheets sasslang prettier storybook react-storybook figma code-connect figma-code-connect chromatic svg
🖌️ python-black
📝 markdown md docusaurus yaml asciidoctor json
🔍 sonarqube sonarqube-server sonarcloud sonarqube-cloud elasticsearch elastic opensearch algolia phpstan mypy pyright sourcegraph
📊 grafana prometheus datadog kibana tableau looker newrelic honeycomb splunk
🔥 firebase
🐼 pandas
🧠 tensorflow pytorch
🪣 gcs google-cloud-storage amazon-s3 s3
🚂 rails
🚢 shipit shippit argo argocd argo-cd harbor
🚚 goreleaser
🎯 coverage
⏪ rollbar
🔁 retry rebuild
🎉 buildkite-party buildkite-party-confetti
🦜 partyparrot
🔨 cmake gnu buck bazel
🥋 karate karate-api
🌊 dataflow airflow
❄️ nix nixos snowflake-db snowsql
🍃 mongodb
🐦 swift
🚪 boundary hashicorp-boundary
🎮 steam xbox playstation
💬 slack google-chat discord ms-teams hipchat
📈 codeclimate
📱 appium
🗼 lighthouse
🗄️ database sqlite mssql redis
🧩 amazon-elasticcache
🐝 beats
🐞 bugsnag sentry smartbear-bugsnag
🧬 graphql
🦋 changesets
⚙️ jenkins circleci travisci teamcity jetbrains-teamcity
🎩 redhat rhel enterprise_linux enterprise-linux fedora
🌀 debian
🦙 lox-llama
👀 watchman
💀 bonezone skeleton-dance mr-bones
🦇 batman
🧙 gandalf you_shall_not_pass you-shall-not-pass
🚗 car-blue car-black car-gray car-white car-yellow
💣 exploding-death-star exploding_death_star
🔌 webhook
🚨 pagerduty opsgenie atlassian-opsgenie
`

/** Shown as a letter in a circle. */
export const initialTable = `
aerospike airbnb-stork airbnb_stork aiven akamai alertsite all-the-things all-your-base allthethings allure
allyourbase alma amazon-apigateway amazon-athena amazon-aurora amazon-chime amazon-clouddirectory amazon-cloudsearch
amazon-cloudwatch amazon-cognito amazon-connect amazon-dynamodb amazon-dynamodbaccelerator amazon-ec2
amazon-ec2systemsmanager amazon-ecs amazon-efs amazon-eks amazon-elastictranscoder amazon-emr amazon-eventbridge
amazon-gamelift amazon-glacier amazon-inspector amazon-kinesis amazon-lex amazon-lightsail amazon-machinelearning
amazon-macie amazon-mechanicalturk amazon-mobileanalytics amazon-opensearch amazon-pinpoint amazon-polly
amazon-quicksight amazon-rds amazon-redshift amazon-rekognition amazon-ses amazon-sns amazon-sqs amazon-swf amazon-vpc
amd amp ampcode angular anka ansible anyscale apache-flink apache_flink apex api-extractor appcenter appengine
applied-intuition applied_intuition appliedintuition applitools aqtimepro arch artifactory aspect aspect-build
aspect-build-dark aspect-dark aspect-dev aspect-dev-dark assurance ast-grep astro atlassian atlassian-bitbucket
atlassian-confluence atlassian-jira auditjs auth0 authzed auto aws-applicationdiscoveryservice aws-artifact aws-batch
aws-cdk aws-certificatemanager aws-cli aws-cloudhsm aws-cloudtrail aws-codebuild aws-codecommit aws-codedeploy
aws-codepipeline aws-codestar aws-config aws-datapipeline aws-devicefarm aws-directoryservice aws-dms
aws-elasticbeanstalk aws-glue aws-iam aws-iot aws-lambda aws-managedservices aws-opsworks aws-organizations
aws-privatelink aws-sagemaker aws-servicecatalog aws-sms aws-snowball aws-stepfunctions aws-storagegateway
aws-timestream aws-trustedadvisor aws-waf aws-x-ray babel backstage basecamp basecampy batfish behat bigquery biome
bitbar bitbucket bitrise bkb boomi boston-dynamics bower bowtie braze browserstack brunch buf buildbarn buildbuddy
buildkite buildkite-builder buildpacks c c++ calibre campfire canva capacitor capistrano capture carthage cdk8s centos
cervello chalk chalk-ai charger checkly chef chef-inspec chef-logo chinmina chronosphere cirrascale civi civicrm
cleanr clearbit clickhouse clion clippy clj cljs clojure clojurescript closed-pr closed-pull-request closure-compiler
cloudwatch cml cocoapods codecept codeception codedeploy codepipeline cogops collaborator collective-health composer
compute conan conanio conductor confluence connect-rpc connectrpc consul convox copybara cplusplus cpp crane credo
crystal csharp cursor dagster danger danger-ruby databricks datagrip dataspell dato datocms dbt detekt detox django
dotnet draft-pr draft-pull-request dragonflybsd dsm duck-db duckdb dvc dynamodb ec2 ecr ecs eightcap eks elastic-apm
elastic-cloud elastic-cloud-enterprise elastic-cloud-kubernetes elastic-enterprise-search elastic-stack
elasticbeanstalk elasticloadbalancing elixir elm elmlang ember emr endor-labs endorlabs engflow envoy eqix eqix-metal
equinix equinix-metal erlang esdoc eventbridge expeditor expo express expressjs fabric faros fast-cov fastlane fastly
feelsgood fibery finnadie fixture-kit flatcar flink flowdock flowerwork flowtype fluentd fly-io flynn flyte fork
freebsd fresh fsharp fsociety fuchsia gadget gappengine garden-io gatling gatsby gcompute gerrit git gitpod gitsby
glitch go-task goberserk godmode gohugo google-apps-script google-closure-compiler google-play graphite gravatar
grow-inc grow-inc-dlta grunt gulp h2 habicat haml haml-lang happo harness hashicorp-consul hashicorp-nomad
hashicorp-packer hashicorp-vagrant hashicorp-waypoint haskell hass hbase hermit hermitise heroku hex hiptest hockeyapp
home-assistant horovod hs hubspot huggingface hugo hurtrealbad hydrogen hyper imperva incident incident-io incidentio
influxdata inspec intel intellij intellij-idea intuit-auto istio jekyll jetbrains-clion jetbrains-datagrip
jetbrains-dataspell jetbrains-intellij-idea jetbrains-rider jetbrains-webstorm jetpack jfrog jfrog-artifactory
jfrog-conan jfrog-xray jinja jira jsonnet julia jupyter k6 kafka kart kickstarter kinesis klaviyo knapsack knip
komodor kong kotlin kyverno ladle lambda lefthook lendinghome lendinghome-ops lendinghome_ops lightdash linear
liquibase loadninja locust logstash lua m3 m3db magpie mastra medical-symbol mergify messagemedia meteor mina mise
mise-en-place mistral mistral-ai mistralai modal modallabs monolith moodle mpi n8n namespace nancy nats nats-io
neckbeard neo4j netbsd netlify newman nextjs nexus-iq ngrok nightmare nodesecurity nomad northflank ns nsp nvidia nx
octopus-deploy one-does-not-simply open-fga openapi openbsd openfga openpolicyagent opentelemetry openvpn openwrt
opscode or oracle-linux oracle_linux organicresponse osv osv-scanner otel packer pact pactflow pants pantsbuild pdm
percy perfection pfsense phabricator phoenix-elixir piedpiper pinterest pinterest-teletraan pipe plaid plaidml
planetscale platformio plausible play-store podium podman polar-bear-police pony postman postmark pre-commit precommit
proto protractor purescript pyrefly pyx qemu qlty qt quay queued-pull-request quick rage1 rage2 rage3 rage4 rancher
raspberry-pi ray ray-serve ray-train rea reddit relay repolinter respond-io retirejs reviewboard rider rocky rocm rokt
route53 rspack rstats ruff sadpanda salesforce salus saucelabs sbt scala scaleway scalr scientific-linux
scientific_linux scw sdm selenium selenium-gauge serverless serverspec sfdx shop shopify shopify-liquid shrek sidekiq
singularity slate-db slatedb smartbear-alertsite smartbear-aqtimepro smartbear-bitbar smartbear-capture
smartbear-collaborator smartbear-loadninja smartbear-pact smartbear-pactflow smartbear-soapui smartbear-swagger
smartbear-swaggerhub smartbear-visualtest smartbear-zephyr smartbear-zephyrscale smartbear-zephyrsquad soapui socket
sorbet spacelift spacelift-dark spark spicedb spinnaker spotify srb sst stack-adapt stack-overflow stack_overflow
stackoverflow strongdm stryker stryker-js subversion suitest sumologic superfly suspect svelte svn swagger swaggerhub
swc sweating switch synology-dsm tailscale tapioca taplo tauri teletraan testflight testobject tetragon tetris
thisisfine tilt-dev tomster traefik triple-green-shell trollface truffleruby trunk tsdown tuist twilio ty typespec
ubuntu uefi usertesting uv vagrant vector vercel vespa virtru visual-regression-tracker visualtest vmware vscode vue
walrusai wasm wayfair waypoint webassembly webstorm windows wordpress wraith zapier zephyr zephyrscale zephyrsquad zig
ziglang zolve zookeeper
`
