"""Addresses of stores, as an operator configures them."""

import pytest

from saratoga_server.store.addresses import fault_in

GOOD = [
    "redis://store",
    "redis://store:6379/",
    "redis://store:6379/2",
    "redis://10.0.0.1:1?db=3",
    "redis://[::1]:6379",
    "redis://[fe80::1%25eth0]:6379/0/",
    "rediss://me:a%2Fb%40c@store_1.example.org:65535/2",
    "rediss://store?ssl_ca_certs=/etc/ca.pem&ssl_cert_reqs=none&ssl_check_hostname=false",
    "redis://:pass@word,with:many&signs@store",
    "unix:///run/redis.sock",
    "unix:///run/my%20store/50%25?db=1&password=hush",
    "unix://me:hush@/run/redis.sock",
    "unix:///run/a,b/store",
    "rediss://me:hush,hush@store?password=a,b",
]


@pytest.mark.parametrize("url", GOOD)
def test_an_address_that_redis_py_understands_as_it_is_meant_can_be_used(url: str) -> None:
    assert fault_in(url) is None


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "begin with"),
        (",", "begin with"),
        ("store:6379", "begin with"),
        ("http://store", "begin with"),
        ("REDIS://store", "begin with"),
        ("redis:store", "begin with"),
        ("rediss:/store", "begin with"),
        ("redis:///", "host name"),
        ("redis://", "host name"),
        ("redis://:6379", "host name"),
        ("redis://me:hush@/2", "host name"),
        ("redis://one,", "host name"),
        ("redis://one,redis://two:7000", "Cluster is not supported"),
        ("redis://one, redis://two", "host name"),
        (",redis://one", "begin with"),
        ("redis://my store", "host name"),
        ("redis://store:99999", "A port"),
        ("redis://store:0", "A port"),
        ("redis://store:-1", "A port"),
        ("redis://store:abc", "A port"),
        ("redis://[::1", "A port"),
        ("redis://:a/b@store", "percent-encoded"),
        ("redis://:a#b@store", "percent-encoded"),
        ("redis://:a[b@store", "percent-encoded"),
        ("redis://store/two", "number of a database"),
        ("redis://store/0/1", "number of a database"),
        ("redis://store?db=two", "must be a number"),
        ("redis://store?databse=1", "The options of a redis:// address are db"),
        ("redis://store?ssl_cert_reqs=none", "The options of a redis:// address are db"),
        ("rediss://store?ssl_cert_reqs=no", "ssl_cert_reqs must be one of"),
        ("unix://", "A path must follow"),
        ("unix:///", "A path must follow"),
        ("unix://run/redis.sock", "A path must follow"),
        ("unix:/run/redis.sock", "begin with"),
    ],
)
def test_an_address_that_would_lead_elsewhere_is_refused_with_a_reason(url: str, says: str) -> None:
    fault = fault_in(url)
    assert fault is not None
    assert says in fault
    assert "hush" not in fault
