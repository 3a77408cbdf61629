// Package alerts tests what operators watch the service with: the rules of deploy/prometheus, the
// dashboards of deploy/grafana and the runbooks, with promtool and Prometheus themselves, against
// real nodes whose parts are broken for real.
package alerts
