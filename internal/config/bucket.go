package config

import (
	"net"
	"net/url"
	"regexp"
)

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// checkBucket checks where files are kept, if not in LINEPROOF_DATA.
func (c *Config) checkBucket(wrong *complaints) {
	if c.S3Endpoint == "" {
		for _, other := range []struct {
			name string
			set  bool
		}{
			{"LINEPROOF_S3_BUCKET", c.S3Bucket != ""},
			{"LINEPROOF_S3_ACCESS_KEY", c.S3AccessKey != ""},
			{"LINEPROOF_S3_SECRET_KEY", c.S3SecretKey != ""},
			{"LINEPROOF_S3_SSE", wrong.none("LINEPROOF_S3_SSE") && c.S3SSE != "none"},
			{"LINEPROOF_S3_KMS_KEY", c.S3KMSKey != ""},
		} {
			if other.set && wrong.none("LINEPROOF_S3_ENDPOINT") {
				wrong.about("LINEPROOF_S3_ENDPOINT", "%s is set without LINEPROOF_S3_ENDPOINT: set both, or neither", other.name)
			}
		}
		return
	}
	u, err := url.Parse(c.S3Endpoint)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		wrong.about("LINEPROOF_S3_ENDPOINT", "LINEPROOF_S3_ENDPOINT is not the address of a server: set it to a URL such as https://s3.regulator.example, without a path")
	case u.Scheme == "http" && !isLoopback(net.JoinHostPort(u.Hostname(), "80")):
		wrong.about("LINEPROOF_S3_ENDPOINT", "LINEPROOF_S3_ENDPOINT would send documents to another machine in the clear: set it to an address that begins with https://")
	}
	if wrong.none("LINEPROOF_S3_BUCKET") && !bucketName.MatchString(c.S3Bucket) {
		wrong.about("LINEPROOF_S3_BUCKET", "LINEPROOF_S3_BUCKET is not the name of a bucket: set it to 3 to 63 lower case letters, digits, dots and dashes")
	}
	if wrong.none("LINEPROOF_S3_REGION") && !isPrintable(c.S3Region, 64) {
		wrong.about("LINEPROOF_S3_REGION", "LINEPROOF_S3_REGION is not a region: set it to one such as us-east-1")
	}
	if c.S3AccessKey == "" {
		wrong.about("LINEPROOF_S3_ACCESS_KEY", "LINEPROOF_S3_ENDPOINT needs LINEPROOF_S3_ACCESS_KEY: set it to the name of a key that may use the bucket")
	}
	if wrong.none("LINEPROOF_S3_SECRET_KEY") && c.S3SecretKey == "" {
		wrong.about("LINEPROOF_S3_SECRET_KEY", "LINEPROOF_S3_ENDPOINT needs LINEPROOF_S3_SECRET_KEY: set it to the secret of the key")
	}
	if wrong.none("LINEPROOF_S3_SSE") && c.S3KMSKey != "" && c.S3SSE != "kms" {
		wrong.about("LINEPROOF_S3_KMS_KEY", "LINEPROOF_S3_KMS_KEY is set without LINEPROOF_S3_SSE=kms: set it, too, or remove the key")
	}
}
